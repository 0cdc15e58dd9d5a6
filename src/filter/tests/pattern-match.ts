import { regularExpression } from '../../shared/regular-expression.js';
import { quoted } from '../../shared/values.js';
import { fail, spend } from '../evaluation.js';
import type { FilterType } from '../schema.js';
import { decodedBytes, failing, ofText, type ValueTest } from './value-test.js';

/** Steps of a match that cost one step of an evaluation. */
const MATCH_STEPS = 20;

/** Whether a regular expression in RE2's syntax matches any part of a string. */
export function patternMatch(type: FilterType, pattern: string, where: string): ValueTest {
  if (type.kind !== 'text' && type.kind !== 'bytes' && type.kind !== 'any') {
    return failing(`${where}: a pattern cannot match a value of type ${type.kind}`);
  }
  const compiled = regularExpression(pattern);
  if (compiled.isErr()) return failing(`${where}: ${quoted(pattern)} is not a regular expression: ${compiled.error}`);
  const { matches, size } = compiled.value;
  const matchesText: ValueTest = (value, evaluation) => {
    const text = value as string;
    return spend(evaluation, Math.ceil((size * text.length) / MATCH_STEPS)) && matches(text);
  };
  if (type.kind === 'text') return ofText(type, where, matchesText);
  if (type.kind === 'bytes') {
    return (value, evaluation) => matchesText(new TextDecoder().decode(decodedBytes(value)), evaluation);
  }
  return (value, evaluation) =>
    typeof value === 'string'
      ? matchesText(value, evaluation)
      : fail(evaluation, `${where}: a pattern cannot match it`);
}
