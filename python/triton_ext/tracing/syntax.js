// SPDX-License-Identifier: Apache-2.0
//
// Syntax colours: returns the tokens of a line, [start, end, class]. Each line is
// tokenised by itself, so that only the lines on the screen cost time. A Python
// file is tokenised as a whole, because its strings may span lines. Text that no
// rule matches has no token; a wrong token only has a wrong colour.
//
// Classes: c comment, s string, n number, k keyword, t type, o operation, v value,
// a attribute, f function or symbol, l label.

"use strict";

const STRING = /"(?:[^"\\]|\\.)*"?/;

// In order: the first rule that matches at a place wins. No rule has groups.
const GRAMMARS = {
  mlir: [
    ["c", /\/\/.*/],
    ["s", STRING],
    ["v", /%[\w$.-]+(?:#\d+)?/],
    ["l", /\^[\w$.-]+/],
    ["f", /@(?:"[^"]*"|[\w$.-]+)/],
    ["t", /!(?:[A-Za-z_$][\w$.-]*)/],
    ["a", /#[A-Za-z_$][\w$.-]*/],
    ["n", /(?<![\w.$-])(?:0x[\da-fA-F]+(?![\w])|(?:[\d?]+x)+(?=[\w!])|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w))/],
    ["t", /(?:(?<![\w.$-])|(?<=[\d?]x))(?:tensor|memref|vector|complex|tuple|none|index|[su]?i\d+|bf16|tf32|f\d+\w*)(?![\w.$-])/],
    ["a", /(?<![\w.$-])[A-Za-z_][\w.$-]*(?= = )/],
    ["k", /(?<![\w.$-])(?:attributes|module|public|private|nested|iter_args|step|to|else|do|while|dense|unit|true|false|external|internal|array|mutable|asm_dialect|has_side_effects)(?![\w.$-])/],
    ["o", /(?<![\w.$-])[a-z_]\w*(?:\.[\w$-]+)+/],
  ],
  llvm: [
    ["c", /;.*/],
    ["s", /c?"(?:[^"\\]|\\.)*"?/],
    ["v", /%(?:"[^"]*"|[\w$.-]+)/],
    ["f", /@(?:"[^"]*"|[\w$.-]+)/],
    ["a", /[!#][\w.$-]+/],
    ["l", /^[\w$.-]+:/],
    ["n", /(?<![\w.$-])(?:0x[\da-fA-FHKLMR]+|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w])/],
    ["t", /(?<![\w.$-])(?:void|i\d+|half|bfloat|float|double|ptr|label|token|metadata|opaque|x)(?![\w.$-])/],
    ["o", /(?<![\w.$-])(?:ret|br|switch|indirectbr|invoke|unreachable|f?neg|f?add|f?sub|f?mul|[usf]div|[usf]rem|shl|[la]shr|and|or|xor|(?:extract|insert)(?:element|value)|shufflevector|alloca|load|store|fence|cmpxchg|atomicrmw|getelementptr|(?:fp)?trunc|[sz]ext|fpext|fpto[us]i|[us]itofp|ptrtoint|inttoptr|bitcast|addrspacecast|[if]cmp|phi|select|freeze|call|va_arg)(?![\w.$-])/],
    ["k", /(?<![\w.$-])(?:define|declare|target|datalayout|triple|source_filename|global|constant|external|internal|private|attributes|tail|musttail|asm|sideeffect|addrspace|align|nsw|nuw|exact|inbounds|disjoint|nneg|contract|fast|nnan|ninf|nsz|arcp|afn|reassoc|volatile|monotonic|acquire|release|acq_rel|seq_cst|syncscope|eq|ne|[us]g[te]|[us]l[te]|o(?:eq|gt|ge|lt|le|ne|rd)|u(?:eq|ne|no)|true|false|null|undef|poison|zeroinitializer|to)(?![\w.$-])/],
  ],
  ptx: [
    ["c", /\/\/.*|\/\*.*?\*\//],
    ["s", STRING],
    ["l", /^\s*[\w$]+:/],
    ["v", /%[\w$.]+/],
    ["a", /[@]!?(?=%)/],
    ["o", /(?<=^\s*(?:\{\s*)?(?:@!?%\w+\s+)?)[a-z]\w*(?:\.[\w:]+)*/],
    ["k", /(?<![\w$])\.(?!\d)\w+/],
    ["n", /(?<![\w$.%])-?(?:0[xfFdD][\da-fA-F]+|\d+(?:\.\d+)?)(?![\w])/],
    ["f", /(?<![\w$.%])[A-Za-z_$][\w$]*/],
  ],
  amdgcn: [
    ["c", /;.*|\/\/.*/],
    ["s", STRING],
    ["l", /^[\w$.]+:/],
    ["k", /(?<=^\s*)\.\w+/],
    ["o", /(?<=^\s+)[a-z]\w*/],
    ["v", /(?<![\w.])(?:(?:[vsa]|ttmp|acc)(?:\d+|\[[^\]]*\])|vcc(?:_lo|_hi)?|exec(?:_lo|_hi)?|m0|scc|null)(?!\w)/],
    ["n", /(?<![\w.])-?(?:0x[\da-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?!\w)/],
    ["f", /@\w+|\.L\w+/],
    ["a", /(?<![\w.])[a-z]\w*(?=[:(])/],
  ],
  sass: [
    ["c", /\/\*.*?\*\/|\/\/.*|^[-\d]{2}:[-\d]:[-\d]:[-Y]:[\da-f]/],
    ["s", STRING],
    ["l", /^\.?[\w$.]+:/],
    ["k", /(?<=^\s*)\.\w+/],
    ["a", /@!?U?P[T\d]/],
    ["v", /(?<![\w.])(?:U?R(?:\d+|Z)|U?P(?:\d|T)|SR_[\w.]+|SRZ?|SB\d|B\d+|gdesc|desc)(?!\w)(?:\.\w+)*/],
    ["t", /(?<![\w.])c(?:x)?\[[^\]]*\](?:\[[^\]]*\])?/],
    ["o", /(?<![\w.])[A-Z][A-Z0-9_]+(?:\.\w+)*/],
    ["n", /(?<![\w.])[-+]?(?:0x[\da-fA-F]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?!\w)/],
    ["f", /\.L_\w+|LBB\d+/],
  ],
  python: [
    ["c", /#.*/],
    ["s", /(?<!\w)[rRbBuUfF]{0,2}(?:"""(?:[^\\]|\\[^])*?(?:"""|$(?![^]))|'''(?:[^\\]|\\[^])*?(?:'''|$(?![^]))|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)/],
    ["a", /(?<=^\s*)@[\w.]+/],
    ["f", /(?<=\b(?:def|class)\s+)\w+/],
    ["k", /(?<![\w.])(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False|self)(?!\w)/],
    ["n", /(?<![\w.])(?:0[xob][\da-fA-F_]+|\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?)(?!\w)/],
    ["o", /(?<![\w])[A-Za-z_]\w*(?=\()/],
  ],
  text: [],
};

const compiledGrammars = new Map();

function grammar(language) {
  if (!compiledGrammars.has(language)) {
    const rules = GRAMMARS[language] || [];
    const source = rules.map(([, rule]) => `(${rule.source})`).join("|");
    compiledGrammars.set(language, {classes: rules.map(([name]) => name), source});
  }
  return compiledGrammars.get(language);
}

function tokensOf(text, language) {
  const {classes, source} = grammar(language);
  const tokens = [];
  if (!source) return tokens;
  for (const match of text.matchAll(new RegExp(source, "gm"))) {
    if (!match[0]) continue;
    tokens.push([match.index, match.index + match[0].length, classes[match.indexOf(match[0], 1) - 1]]);
  }
  return tokens;
}

// Returns the tokens of each line of a Python file.
function pythonTokens(lines) {
  const all = lines.map(() => []);
  let line = 0;
  let begin = 0; // of `line`, in the whole text
  for (const [start, end, name] of tokensOf(lines.join("\n"), "python")) {
    while (begin + lines[line].length < start) begin += lines[line++].length + 1;
    let at = line;
    let from = begin;
    while (from < end && at < lines.length) {
      const stop = Math.min(end - from, lines[at].length);
      if (stop > Math.max(0, start - from)) all[at].push([Math.max(0, start - from), stop, name]);
      from += lines[at++].length + 1;
    }
  }
  return all;
}

// Appends `text` to `parent`: coloured by `tokens`, with the ranges of `marks`
// ([start, end, class], in order, apart) marked, and broken at the places `breaks`.
// All of it becomes text nodes, never HTML.
function appendColoured(parent, text, tokens, marks = [], breaks = []) {
  let mark = 0;
  let line = 0;
  const put = (start, end, name) => {
    while (start < end) {
      while (mark < marks.length && marks[mark][1] <= start) mark++;
      const [from, to, kind] = mark < marks.length ? marks[mark] : [Infinity, Infinity, ""];
      const inside = from <= start;
      if (breaks[line] === start) {
        parent.append(document.createElement("br"));
        line++;
      }
      const stop = Math.min(end, inside ? to : from, breaks[line] ?? Infinity);
      const classes = [name, inside ? kind : ""].filter(Boolean).join(" ");
      if (classes) {
        const span = document.createElement("span");
        span.className = classes;
        span.textContent = text.slice(start, stop);
        parent.append(span);
      } else {
        parent.append(text.slice(start, stop));
      }
      start = stop;
    }
  };
  let at = 0;
  for (const [start, end, name] of tokens) {
    put(at, start, "");
    put(start, end, name);
    at = end;
  }
  put(at, text.length, "");
}
