// SPDX-License-Identifier: Apache-2.0
//
// Assembles x86-64 assembly to an object file. The assembly may come from the
// user, who can replace the stage "asm". So errors are returned as messages;
// Triton's own function for object files ends the process on an error.

#include "llvm/ADT/Twine.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Keeps only the first error, because later ones may follow from it.
static void keep(const SMDiagnostic &diagnostic, std::string &problem) {
  if (diagnostic.getKind() == SourceMgr::DK_Error && problem.empty())
    problem = ("line " + Twine(diagnostic.getLineNo()) + ": " +
               diagnostic.getMessage())
                  .str();
}

/// Writes the object file of `text` to `os`. Returns the error, or an empty
/// text.
static std::string assemble(StringRef text, StringRef cpu, StringRef features,
                            raw_pwrite_stream &os) {
  std::string problem;
  Triple triple("x86_64-unknown-linux-gnu");
  const Target *target = TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return problem;
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(text, "asm"), SMLoc());
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *problem) {
        keep(diagnostic, *static_cast<std::string *>(problem));
      },
      &problem);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> syntax(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, cpu, features));
  // LLVM's code generator tunes "x86-64" as "generic". The no-ops that it
  // aligns code with depend on that.
  if (cpu == "x86-64")
    subtarget->setDefaultFeatures(
        cpu, "generic", ("+64bit-mode,-32bit-mode," + features).str());
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  MCContext context(triple, *syntax, *registers, *subtarget, &sources);
  context.setDiagnosticHandler(
      [&](const SMDiagnostic &diagnostic, bool, const SourceMgr &,
          std::vector<const MDNode *> &) { keep(diagnostic, problem); });
  std::unique_ptr<MCObjectFileInfo> sections(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(os);
  std::unique_ptr<MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *syntax));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions));
  parser->setTargetParser(*targetParser);
  bool failed = parser->Run(/*NoInitialTextSection=*/false);
  return failed && problem.empty() ? "it cannot be assembled" : problem;
}

/// Assembles `text` for the CPU `cpu` with `features` to the object file
/// `object`. Returns 0, or 1 with the reason in `message`. Needs
/// triton_ext_cpu_initialize.
extern "C" __attribute__((visibility("default"))) int
triton_ext_cpu_assemble(const char *text, const char *cpu, const char *features,
                        const char *object, char *message, size_t size) {
  std::string problem;
  std::error_code error;
  raw_fd_ostream os(object, error);
  problem = error ? error.message() : assemble(text, cpu, features, os);
  snprintf(message, size, "%s", problem.c_str());
  return !problem.empty();
}
