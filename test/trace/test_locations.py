# SPDX-License-Identifier: Apache-2.0
"""Locations are removed from every kind of text, and their meaning is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_ext.compilation.llvm_locations import split_llvm
from triton_ext.compilation.located import Chain, Frame
from triton_ext.compilation.locations import language_of, shown_frame, split
from triton_ext.compilation.mlir_locations import split_mlir
from triton_ext.compilation.records import Compilation


def places(chain: Chain) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in chain]


def chain_of(location: str, *aliases: str) -> list[tuple[str, int]]:
    """Returns the meaning of `location` at the end of a line."""
    text = "\n".join([f"  %0 = a.b %1 : i32 {location}", *aliases])
    located = split_mlir(text)
    assert located.lines == ("  %0 = a.b %1 : i32",)
    return places(located.chains[0])


@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        ('loc("/a/k.py":12:8)', [("/a/k.py", 12)]),
        ('loc("/a/k.py":12:8 to :20)', [("/a/k.py", 12)]),
        ('loc("/a/k.py":12:8 to 14:2)', [("/a/k.py", 12)]),
        ("loc(unknown)", []),
        ("loc(#loc3)", [("k.py", 3)]),
        ("loc(#loc99)", []),
        ('loc("left"("k.py":7:1))', [("k.py", 7)]),
        ('loc("left"(#loc3))', [("k.py", 3)]),
        ('loc("left")', []),
        ('loc(fused["k.py":7:1, "k.py":8:1])', [("k.py", 7)]),
        ('loc(fused[unknown, "k.py":8:1])', [("k.py", 8)]),
        ('loc(fused<#di_subprogram>["k.py":8:1])', [("k.py", 8)]),
        ('loc(fused<{a = "]>" , b = tensor<2xf32>, c = (i32) -> i32, d = [1]}>["k.py":8:1])', [("k.py", 8)]),
        ('loc(callsite("k.py":34:12 at "k.py":46:51))', [("k.py", 34), ("k.py", 46)]),
        (
            'loc(callsite("x at y"("k.py":1:1) at callsite(#loc3 at "m.py":5:5)))',
            [("k.py", 1), ("k.py", 3), ("m.py", 5)],
        ),
        ('loc("/a \\"b\\" (c)/\\C3\\A9.py":1:1)', [('/a "b" (c)/é.py', 1)]),
        ("loc(#loc7)", []),  # which is itself
        ("loc()", []),
        ('loc("k.py":x)', []),
    ],
)
def test_a_location(location: str, wanted: list[tuple[str, int]]) -> None:
    assert chain_of(location, '#loc3 = loc("k.py":3:1)', "#loc7 = loc(callsite(#loc7 at #loc7))") == wanted


def test_locations_within_a_line_and_in_strings() -> None:
    line = 'tt.func @f(%a: i32 loc("a"(#loc1)), %b: f32 loc("k.py":9:9)) attributes {s = "loc(#loc1)", t = "\\" loc("} loc(#loc1)'
    located = split_mlir(f'{line}\n#loc1 = loc("k.py":1:1)')
    assert located.lines == ('tt.func @f(%a: i32, %b: f32) attributes {s = "loc(#loc1)", t = "\\" loc("}',)
    assert places(located.chains[0]) == [("k.py", 1)]
    assert split_mlir('%0 = ttg.local_alloc("loc") : (i32)').lines == ('%0 = ttg.local_alloc("loc") : (i32)',)


def test_what_opens_a_region_has_the_location_behind_its_brace() -> None:
    text = """module {
  scf.for %i = %a to %b {
    %c = scf.if %d {
      x.y loc("k.py":3:1)
    } else {
    } loc("k.py":2:1)
    "tt.reduce"(%c) ({
    ^bb0(%p: f32 loc("k.py":8:8)):
    }) : () -> () loc("k.py":4:1)
  } loc("k.py":1:1)
} loc(unknown)"""
    lines = [chain[0].line if chain else 0 for chain in split_mlir(text).chains]
    assert lines == [0, 1, 2, 3, 2, 2, 4, 8, 4, 1, 0]


def test_other_aliases_stay_and_numbers_of_locations_do_not_matter() -> None:
    one = '#loc = loc("k.py":1:1)\n#blocked = #ttg.blocked<{order = [1]}>\nmodule {\n} loc(#loc)\n#loc4 = loc(unknown)\n\n'
    other = '#blocked = #ttg.blocked<{order = [1]}>\nmodule {\n} loc(#loc7)\n#loc7 = loc("k.py":1:1)\n'
    assert split_mlir(one) == split_mlir(other)
    assert split_mlir(one).text == "#blocked = #ttg.blocked<{order = [1]}>\nmodule {\n}\n"


@given(st.text(alphabet='loc()"\\[]<>#%:,at callsite fused 123 {}\n\t.fileDIL!', max_size=200))
def test_no_text_makes_it_fail(text: str) -> None:
    for language in ("mlir", "llvm", "ptx", "sass", "python", "text"):
        located = split(text, language)
        assert len(located.lines) == len(located.chains)
        split(f"loc({text})", language)


@pytest.mark.slow
def test_deep_nesting() -> None:
    assert chain_of(f'loc({"callsite(" * 5000}"k.py":1:1{" at unknown)" * 5000})') == []


def test_llvm() -> None:
    text = """define void @k(ptr %0) #0 !dbg !4 {
  %2 = add i32 %1, 1, !dbg !14
  %3 = add i32 %2, 1, !dbg !27, !tbaa !9
  %4 = add i32 %3, 1
  store i32 %4, ptr %0, !dbg !99
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "triton")
!1 = !DIFile(filename: "k.py", directory: "/a/b")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 38, unit: !0)
!14 = !DILocation(line: 40, column: 9, scope: !4)
!27 = !DILocation(line: 34, column: 12, scope: !28, inlinedAt: !29)
!28 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
!29 = !DILocation(line: 46, column: 51, scope: !28)
"""
    located = split(text, "llvm")
    assert located.lines == (
        "define void @k(ptr %0) #0 {",
        "  %2 = add i32 %1, 1",
        "  %3 = add i32 %2, 1, !tbaa !9",
        "  %4 = add i32 %3, 1",
        "  store i32 %4, ptr %0",
        "}",
        "",
        "!llvm.module.flags = !{!2}",
        '!2 = !{i32 2, !"Debug Info Version", i32 3}',
    )
    assert [places(chain) for chain in located.chains[:5]] == [
        [("/a/b/k.py", 38)],
        [("/a/b/k.py", 40)],
        [("/a/b/k.py", 34), ("/a/b/k.py", 46)],
        [],
        [],
    ]


def test_ptx() -> None:
    text = """.visible .entry k(
)
{
\t.loc\t1 38 0                          // k.py:38:0
$L__func_begin0:
\t.loc\t1 40 9                          // k.py:40:9
\tmov.u32 \t%r1, %tid.x;
\t// begin inline asm
\t@%p1 bra \t$L__BB0_1;
\t.loc\t1 34 12, function_name $L__info_string0, inlined_at 1 46 51 // k.py:34:12 @[ k.py:46:51 ]
\tmax.f32 \t%f1, %f2, %f3;
\t.loc\t1 0 5                           // k.py:0:5
\tret;
\t.file\t1 "/a/b/k.py"
}
\t.section\t.debug_abbrev
\t{
.b8 1                                   // Abbreviation Code
\t}
\t.section\t.debug_macinfo\t{\t}
"""
    located = split(text, "ptx")
    assert [line.strip() for line in located.lines] == [
        ".visible .entry k(", ")", "{", "$L__func_begin0:", "mov.u32 \t%r1, %tid.x;", "// begin inline asm",
        "@%p1 bra \t$L__BB0_1;", "max.f32 \t%f1, %f2, %f3;", "ret;", "}",
    ]  # fmt: skip
    assert [places(chain) for chain in located.chains[4:9]] == [
        [("/a/b/k.py", 40)],
        [],
        [("/a/b/k.py", 40)],
        [("/a/b/k.py", 34), ("/a/b/k.py", 46)],
        [],
    ]


def test_amdgcn() -> None:
    text = """\t.text
k:                                      ; @k
\t.file\t1 "/a/b" "k.py"
\t.loc\t1 38 0 prologue_end             ; k.py:38:0
\ts_load_dwordx2 s[2:3], s[0:1], 0x0
\t.loc\t1 34 12 is_stmt 1               ; k.py:34:12 @[ k.py:46:51 ]
\tv_max_f32_e32 v0, v0, v0
\t.section\t.debug_info,"",@progbits
\t.long\t1
\t.section\t.AMDGPU.gpr_maximums,"",@progbits
\t.set amdgpu.max_num_vgpr, 0
"""
    located = split(text, "amdgcn")
    assert [line.strip() for line in located.lines] == [
        ".text", "k:                                      ; @k", "s_load_dwordx2 s[2:3], s[0:1], 0x0",
        "v_max_f32_e32 v0, v0, v0", '.section\t.AMDGPU.gpr_maximums,"",@progbits', ".set amdgpu.max_num_vgpr, 0",
    ]  # fmt: skip
    assert [places(chain) for chain in located.chains[2:4]] == [
        [("/a/b/k.py", 38)],
        [("/a/b/k.py", 34), ("/a/b/k.py", 46)],
    ]


def test_sass() -> None:
    text = """\t//## File "/a/k.py", line 34 inlined at "/a/k.py", line 46
\t//## File "/a/k.py", line 46
        /*0cd0*/                   FMNMX R27, RZ, R27, !PT ;
\t//## File "/a/k.py", line 40
        /*0ce0*/                   IMAD R3, R6, 0x10, R3 ;
.L_x_1:
"""
    located = split(text, "sass")
    assert [line.split()[0] for line in located.lines] == ["/*0cd0*/", "/*0ce0*/", ".L_x_1:"]
    assert [places(chain) for chain in located.chains] == [[("/a/k.py", 34), ("/a/k.py", 46)], [("/a/k.py", 40)], []]


def test_the_frame_to_show() -> None:
    chain = (Frame("/lib/standard.py", 1), Frame("/me/helper.py", 2), Frame("/me/kernel.py", 3))
    assert shown_frame(chain, "/me/kernel.py") == 2
    assert shown_frame(chain, "/me/other.py", ["/me/helper.py"]) == 1
    assert shown_frame(chain, None) == 0
    assert shown_frame((), "/me/kernel.py") == 0


def test_languages() -> None:
    assert language_of("ttir", "anything") == "ttir"
    assert language_of("llir", "; ModuleID = 'x'\ndefine void @f() {") == "llvm"
    assert language_of("llir", "module attributes {a = 1} {\n}") == "mlir"
    assert language_of("new", "something else") == "text"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["matmul", "matmul_amd"])
def test_real_modules(target: str, request: pytest.FixtureRequest) -> None:
    """The text has no locations left, and most operations point into the kernel."""
    compilation: Compilation = request.getfixturevalue(target)
    modules = [record.ir for stage in compilation.stages for record in stage.passes if record.ir]
    assert len(modules) > 10
    for module in modules:
        located = split_mlir(module)
        assert not [line for line in located.lines if " loc(" in line or line.startswith("#loc")]
    for stage in compilation.stages:
        if isinstance(stage.output, str):
            located = split(stage.output, language_of(stage.name, stage.output))
            known = [chain[shown_frame(chain, compilation.file)] for chain in located.chains if chain]
            assert len(known) > len(located.lines) / 2
            lines = {frame.line for frame in known if frame.file == compilation.file}
            assert {22, 23, 24, 25} <= lines, stage.name


@pytest.mark.slow
def test_a_chain_without_end_is_cut() -> None:
    """Each location may stand in two others, and LLVM's may be inlined into themselves."""
    bomb = ['#loc0 = loc("k.py":1:1)', *(f"#loc{i} = loc(callsite(#loc{i - 1} at #loc{i - 1}))" for i in range(1, 30))]
    assert len(split_mlir("\n".join(["x.y loc(#loc29)", *bomb])).chains[0]) == 100
    scope = '!9999 = distinct !DISubprogram(name: "k", file: !9998, line: 1)\n!9998 = !DIFile(filename: "k", directory: "/")'
    nodes = [f"!{i} = !DILocation(line: 1, scope: !9999, inlinedAt: !{i + 1})" for i in range(4000)]
    rows = [f"  ret void, !dbg !{i}" for i in range(4000)]
    assert len(split_llvm("\n".join([*rows, *nodes, scope])).chains[0]) == 100
    assert split_llvm("  ret void, !dbg !0\n!0 = !DILocation(line: 0, scope: !0, inlinedAt: !0)\n").chains == ((),)
