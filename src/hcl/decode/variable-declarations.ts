import { paidFor } from '../evaluate/context.js';
import { firstStepName, freeReferences } from '../evaluate/references.js';
import { typeFromExpression } from '../evaluate/type-expression.js';
import type { Steps } from '../steps.js';
import { isIdentifier } from '../syntax/lexer.js';
import { parseExpression } from '../syntax/parse.js';
import { relocate } from '../syntax/relocate.js';
import type { Expression, Span } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { type HclType, type HclValue, typeOf } from '../values/value.js';
import { conversionWork } from '../values/work.js';
import { type ContentAttribute, type ContentBlock, contentItems } from './content.js';
import { type Decoding, decodingProblem, nextItem, openingOf, readerOf, withEvaluation } from './decode-value.js';

export interface VariableDeclaration {
  readonly name: string;
  readonly nameSpan: Span;
  /** Undefined: any value is accepted unchanged. */
  readonly type: HclType | undefined;
  readonly defaultValue: { readonly value: HclValue; readonly span: Span } | undefined;
  readonly validations: readonly Validation[];
  /** Whether the declaration has a reported error, so that its value is not checked. */
  readonly broken: boolean;
}

interface Validation {
  readonly condition: Expression;
  readonly message: string;
}

/** Reads all `variable "name" { … }` and `variables { … }` blocks. */
export function* readDeclarations(
  decoding: Decoding,
  blocks: readonly ContentBlock[],
): Steps<ReadonlyMap<string, VariableDeclaration>> {
  const declarations = new Map<string, VariableDeclaration>();
  for (const block of blocks) {
    if (!(yield* nextItem(decoding, block))) break;
    for (const declaration of block.type === 'variables' ? readShorthand(decoding, block) : readOne(decoding, block)) {
      if (declarations.has(declaration.name)) {
        const message = `The variable "${declaration.name.slice(0, 60)}" is already declared.`;
        decodingProblem(decoding, 'duplicate_variable', declaration.nameSpan, message);
      } else declarations.set(declaration.name, declaration);
    }
  }
  return declarations;
}

/** Context for constant values: no references, no functions. */
export function constantsOnly(decoding: Decoding): Decoding {
  return withEvaluation(decoding, { ...decoding.evaluation, unknownNames: 'forbidden', functions: undefined });
}

/** Units of work for one part of a declaration. */
const DECLARATION = 5;

function readShorthand(decoding: Decoding, block: ContentBlock): VariableDeclaration[] {
  const constant = constantsOnly(decoding);
  const [label] = block.labels;
  if (label !== undefined) decodingProblem(decoding, 'extra_label', label, 'A "variables" block takes no label.');
  const declarations: VariableDeclaration[] = [];
  for (const item of contentItems(readerOf(constant), block.body, () => undefined)) {
    if (item.kind === 'block') {
      decodingProblem(decoding, 'bad_variable', item.typeSpan, 'A "variables" block holds attributes only.');
      continue;
    }
    if (!paidFor(decoding.evaluation, item, 2 * DECLARATION)) break;
    const value = constant.evaluation.evaluate(constant.evaluation, item.value);
    declarations.push({
      name: item.name,
      nameSpan: item.nameSpan,
      type: value === undefined || value.kind === 'null' ? undefined : typeOf(value),
      defaultValue: value === undefined ? undefined : { value, span: item.value },
      validations: [],
      broken: value === undefined,
    });
  }
  return declarations;
}

function readOne(decoding: Decoding, block: ContentBlock): VariableDeclaration[] {
  const [label, extra] = block.labels;
  if (label === undefined || extra !== undefined) {
    const { start } = block.body;
    const message = 'A "variable" block has one label: the name of the variable.';
    const code = extra === undefined ? 'missing_label' : 'extra_label';
    decodingProblem(decoding, code, extra ?? { start, end: start + 1 }, message);
    return [];
  }
  if (!isIdentifier(label.text)) {
    decodingProblem(decoding, 'bad_variable', label, {
      message: 'The name of a variable must be a plain name.',
      detail: 'It starts with a letter or "_"; letters, digits, "_" and "-" may follow.',
    });
    return [];
  }
  if (!paidFor(decoding.evaluation, label, 4 * DECLARATION)) return [];
  const before = decoding.evaluation.problems.length;
  const { attributes, validations } = readParts(decoding, block, label.text);
  const type = readType(decoding, attributes.get('type'));
  checkDescription(decoding, attributes.get('description'));
  const defaultValue = readDefault(decoding, attributes.get('default'), type);
  const inferred =
    defaultValue === undefined || defaultValue.value.kind === 'null' ? undefined : typeOf(defaultValue.value);
  return [
    {
      name: label.text,
      nameSpan: label,
      type: type ?? inferred,
      defaultValue,
      validations,
      broken: decoding.evaluation.problems.length > before,
    },
  ];
}

function readParts(
  decoding: Decoding,
  block: ContentBlock,
  name: string,
): { attributes: ReadonlyMap<string, ContentAttribute>; validations: readonly Validation[] } {
  const attributes = new Map<string, ContentAttribute>();
  const validations: Validation[] = [];
  const isBlock = (type: string): number | undefined => (type === 'validation' ? 0 : undefined);
  for (const item of contentItems(readerOf(decoding), block.body, isBlock)) {
    if (item.kind === 'attribute' && ['default', 'description', 'type'].includes(item.name))
      attributes.set(item.name, item);
    else if (item.kind === 'block' && item.type === 'validation') {
      const validation = readValidation(decoding, item, name);
      if (validation !== undefined) validations.push(validation);
    } else {
      const given = item.kind === 'attribute' ? item.name : item.type;
      const span = item.kind === 'attribute' ? item.nameSpan : item.typeSpan;
      const code = item.kind === 'attribute' ? 'unsupported_attribute' : 'unsupported_block';
      decodingProblem(decoding, code, span, {
        message: `There is no ${item.kind} "${given.slice(0, 60)}" in a variable block.`,
        detail: 'It has type, default, description and validation blocks.',
      });
    }
  }
  return { attributes, validations };
}

function readType(decoding: Decoding, item: ContentAttribute | undefined): HclType | undefined {
  if (item === undefined) return undefined;
  const { evaluation } = decoding;
  if (item.json?.kind !== 'json-string') return typeFromExpression(evaluation, item.value, { anyAllowed: false });
  // The JSON form can only quote the type.
  const { start, end, text, verbatim } = item.json;
  const move = (inner: Span): Span =>
    verbatim ? { start: start + 1 + inner.start, end: start + 1 + inner.end } : { start, end };
  const own: typeof evaluation.problems = [];
  const expression = parseExpression({ name: evaluation.source.name, text }, evaluation.budget.limits, own);
  for (const found of own) evaluation.problems.push({ ...found, source: evaluation.source, span: move(found.span) });
  if (expression === undefined) return undefined;
  return typeFromExpression(evaluation, relocate(expression, move), { anyAllowed: false });
}

function checkDescription(decoding: Decoding, item: ContentAttribute | undefined): void {
  if (item === undefined) return;
  const constant = constantsOnly(decoding).evaluation;
  const value = constant.evaluate(constant, item.value);
  if (value === undefined || value.kind === 'string') return;
  decodingProblem(decoding, 'bad_variable', item.value, 'The description of a variable must be a string.');
}

function readDefault(
  decoding: Decoding,
  item: ContentAttribute | undefined,
  type: HclType | undefined,
): VariableDeclaration['defaultValue'] {
  if (item === undefined) return undefined;
  const constant = constantsOnly(decoding).evaluation;
  const value = constant.evaluate(constant, item.value);
  if (value === undefined) return undefined;
  if (type === undefined) return { value, span: item.value };
  if (!paidFor(decoding.evaluation, item.value, conversionWork(value))) return undefined;
  const converted = convert(value, type);
  if (converted.isOk()) return { value: converted.value, span: item.value };
  const message = `The default does not have the type of the variable: ${converted.error.message}.`;
  return decodingProblem(decoding, 'bad_default', item.value, message);
}

function readValidation(decoding: Decoding, block: ContentBlock, name: string): Validation | undefined {
  const attributes = new Map<string, ContentAttribute>();
  for (const item of contentItems(readerOf(decoding), block.body, () => undefined)) {
    if (item.kind === 'attribute' && ['condition', 'error_message'].includes(item.name))
      attributes.set(item.name, item);
    else {
      const span = item.kind === 'attribute' ? item.nameSpan : item.typeSpan;
      decodingProblem(decoding, 'bad_variable', span, 'A validation block has condition and error_message only.');
    }
  }
  const condition = attributes.get('condition');
  const message = attributes.get('error_message');
  for (const [wanted, item] of [['condition', condition] as const, ['error_message', message] as const]) {
    if (item !== undefined) continue;
    decodingProblem(decoding, 'missing_required', openingOf(block.body), `The attribute "${wanted}" is required here.`);
  }
  const text = message === undefined ? undefined : readMessage(decoding, message);
  if (condition === undefined || text === undefined) return undefined;
  return refersOnlyTo(decoding, condition.value, name) ? { condition: condition.value, message: text } : undefined;
}

function readMessage(decoding: Decoding, item: ContentAttribute): string | undefined {
  const constant = constantsOnly(decoding).evaluation;
  const value = constant.evaluate(constant, item.value);
  if (value === undefined) return undefined;
  if (value.kind === 'string' && value.value.trim() !== '') return value.value;
  return decodingProblem(decoding, 'bad_variable', item.value, 'The error message must be a non-empty string.');
}

/** A condition may refer only to its own variable. */
function refersOnlyTo(decoding: Decoding, condition: Expression, name: string): boolean {
  const references = freeReferences(condition);
  let own = false;
  let complete = true;
  for (const reference of references) {
    if (reference.name === 'var' && firstStepName(reference) === name) own = true;
    else {
      complete = false;
      const message = `This condition can refer to var.${name} only.`;
      decodingProblem(decoding, 'bad_variable', reference, message);
    }
  }
  if (complete && !own) {
    decodingProblem(decoding, 'bad_variable', condition, `This condition must refer to var.${name}.`);
  }
  return complete && own;
}
