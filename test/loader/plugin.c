// SPDX-License-Identifier: Apache-2.0
//
// A Triton plugin in plain C, with the layout of triton/Tools/PluginUtils.h (API version 2) written out by hand. It
// offers the passes PASSES; each other macro makes it bad in one way. Compiles in milliseconds, needs no MLIR header.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef API_VERSION
#define API_VERSION 2
#endif
#ifndef NAME
#define NAME "plain"
#endif
#ifndef VERSION
#define VERSION "1.0"
#endif
#ifndef TRITON
#define TRITON "3.9.0"
#endif
#ifndef PASSES
#define PASSES {"plain", "1.0", add, registerSelf}
#endif
#ifndef BEFORE_ANSWER
#define BEFORE_ANSWER
#endif

struct PassInfo {
  const char *name, *version;
  void (*addPass)(void *, const void *);
  void (*registerPass)(void);
};
struct PluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  struct PassInfo *passes;
  size_t numPasses;
  void *dialects;
  size_t numDialects;
  void *ops;
  size_t numOps;
  const char *tritonVersion;
};

static void add(void *manager, const void *args) { (void)manager, (void)args; }
static void registerSelf(void) {}

static struct PassInfo passes[] = {PASSES};
#ifndef PASS_ARRAY
#define PASS_ARRAY passes
#endif
#ifndef NUM_PASSES
#define NUM_PASSES (sizeof passes / sizeof *passes)
#endif
#ifndef NUM_DIALECTS
#define NUM_DIALECTS 0
#endif
#ifndef NUM_OPS
#define NUM_OPS 0
#endif
static struct PluginInfo info = {API_VERSION, NAME, VERSION, PASS_ARRAY, NUM_PASSES, NULL, NUM_DIALECTS,
                                 NULL,        NUM_OPS, TRITON};
#ifndef ANSWER
#define ANSWER &info
#endif

#ifdef NOTE
#define STRING(x) #x
// Layout of an ELF note: name size, description size, type, padded name, description.
__attribute__((section(".note.triton_ext"), used, aligned(4))) static const struct {
  uint32_t nameSize, descriptionSize, type;
  char name[12], description[(sizeof(NOTE) + 3) / 4 * 4];
} note = {10, sizeof(NOTE) - 1, 1, "TritonExt", NOTE};
#endif

#ifdef NEEDS
extern char NEEDS[];
void *need = NEEDS;
#endif
#ifdef TEXT
const char *text = TEXT;
#endif

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void construct(void) { CONSTRUCTOR; }
#endif

#ifndef ENTRY_POINT
#define ENTRY_POINT tritonGetPluginInfo
#endif
__attribute__((visibility("default"))) struct PluginInfo *ENTRY_POINT(void) {
  (void)add, (void)registerSelf, (void)passes, (void)info;
  BEFORE_ANSWER;
  return ANSWER;
}
