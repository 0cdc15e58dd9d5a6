/** The configuration language of the job API, usable separately: parser, evaluator, schema-driven decoder, diagnostics. */
export {
  type DecodedFile,
  type DecodeOptions,
  decodeFile,
  decodeFileInSteps,
  type VariableFile,
} from './decode/decode-file.js';
export { parseDuration } from './decode/duration.js';
export type {
  AttributeKind,
  AttributeSchema,
  BlockSchema,
  BodySchema,
  DecodedAttribute,
  DecodedBlock,
  DecodedBody,
  DecodedLabel,
  PlainValue,
  Report,
  SourceRange,
} from './decode/schema.js';
export type { DiagnosticCode } from './diagnostics/codes.js';
export type { Diagnostic, Severity } from './diagnostics/diagnostic.js';
export { type RenderOptions, renderDiagnostic, renderDiagnostics } from './diagnostics/diagnostic.js';
export { suggestName } from './diagnostics/suggest.js';
export { type Budget, type BudgetLimits, createBudget, defaultBudgetLimits } from './evaluate/budget.js';
export { type Evaluated, type ExpressionScope, evaluateExpression } from './evaluate/evaluate-expression.js';
export { type FileAccess, fileFunctions } from './functions/files.js';
export type { EagerFunction, FunctionContext, FunctionError, HclFunction, HclParameter } from './functions/index.js';
export { hclFunctions } from './functions/index.js';
export { pathFunctions } from './functions/path-pattern.js';
export { parseFile, parseText } from './parse-text.js';
export { finish, type Steps } from './steps.js';
export { printBody, printExpression } from './syntax/print.js';
export type { Position } from './syntax/source.js';
export type * from './syntax/tree.js';
export { fromPlain, type PlainData, type PlainError, toPlain } from './values/plain.js';
export { typeText, valueText } from './values/render.js';
export type { HclType, HclValue } from './values/value.js';
