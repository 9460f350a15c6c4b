// SPDX-License-Identifier: Apache-2.0
//
// The comparisons behind checkOps() and FIELDS(): all that needs no op class.

#include "OpTable.h"
#include "Fields.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace triton_ext::selftest;

/// Returns the name without `mlir::` and without template parameters.
static std::string shortName(StringRef name) {
  name.consume_front("mlir::");
  return name.take_until([](char c) { return c == '<'; }).str();
}

static std::string toString(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

void op_table::checkOp(Report &report, MLIRContext &context,
                       const OpView &view) {
  std::string op = view.name.str();
  std::optional<RegisteredOperationName> name;
  report.check("traits", op, [&](std::string &detail) {
    name = RegisteredOperationName::lookup(view.name, &context);
    if (!name || name->getTypeID() != view.id) {
      detail = name ? "its class has another TypeID" : "not registered";
      return false;
    }
    for (auto [id, spell] : llvm::zip_equal(view.traits, view.traitNames))
      if (!name->hasTrait(id))
        detail +=
            (detail.empty() ? "libtriton denies " : ", ") + shortName(spell());
    return detail.empty();
  });
  if (!name)
    return;

  report.check("interfaces", op, [&](std::string &detail) {
    for (auto [id, spell] : llvm::zip_equal(view.interfaces, view.traitNames))
      if (id != TypeID::get<void>() && !name->hasInterface(id))
        detail +=
            (detail.empty() ? "libtriton denies " : ", ") + shortName(spell());
    return detail.empty();
  });

  std::string differs;
  int bytes = name->getOpPropertyByteSize();
  if (bytes != view.propertyBytes)
    differs = "; " + std::to_string(view.propertyBytes) +
              " bytes in the headers, " + std::to_string(bytes) +
              " in libtriton";
  for (StringAttr attribute : name->getAttributeNames())
    if (!llvm::is_contained(view.attributes, attribute.getValue()))
      differs += "; " + attribute.str() + " is in libtriton only";
  for (StringRef attribute : view.attributes)
    if (!llvm::is_contained(name->getAttributeNames(), attribute))
      differs += "; " + attribute.str() + " is in the headers only";
  if (view.isGuarded)
    return report.guarded("properties", op, "guarded" + differs);
  report.check("properties", op, [&](std::string &detail) {
    detail = StringRef(differs).drop_front(differs.empty() ? 0 : 2);
    return differs.empty();
  });
}

Fields::Fields(Report &report, OperationName name, size_t propertyBytes)
    : report(report), name(name) {
  if (!name.isRegistered())
    return; // checkOps() has said so
  size_t bytes = name.getOpPropertyByteSize();
  canRead = propertyBytes <= bytes;
  canWrite = propertyBytes == bytes;
  op = Operation::create(UnknownLoc::get(name.getContext()), name, {}, {},
                         NamedAttrList(), PropertyRef(), {}, 0);
}

Fields::~Fields() {
  if (op)
    op->destroy();
}

void Fields::field(const char *field,
                   StringAttr (*attributeName)(OperationName),
                   Attribute (*sample)(MLIRContext *), Getter get, Setter set) {
  std::string what = (name.getStringRef() + "." + field).str();
  report.check("properties", what, [&](std::string &detail) {
    if (!canRead) {
      detail = "not read: the properties differ in size";
      return false;
    }
    StringAttr attribute = attributeName(name);
    Attribute value = sample(name.getContext());
    op->setAttr(attribute, value);
    std::optional<Attribute> generic = op->getInherentAttr(attribute);
    if (!generic || *generic != value) {
      detail = "libtriton does not keep " + toString(value) + " as '" +
               attribute.str() + "'";
      return false;
    }
    // By address: a getter at a wrong offset yields anything but an attribute.
    if (get(op) != value) {
      detail = "inline getter disagrees with '" + attribute.str() +
               "' = " + toString(value);
      return false;
    }
    if (!canWrite)
      return true;
    DictionaryAttr before = op->getAttrDictionary();
    set(op, {});
    if (op->getInherentAttr(attribute).value_or(Attribute())) {
      detail = "inline setter did not clear '" + attribute.str() + "'";
      return false;
    }
    set(op, value);
    if (op->getAttrDictionary() != before) {
      detail = "inline setter of '" + attribute.str() + "' changed another";
      return false;
    }
    return true;
  });
}
