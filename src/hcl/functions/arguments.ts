import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { HclNumber } from '../values/big-float.js';
import { isWhole, numberText, toSafeInteger } from '../values/number.js';
import type { HclValue } from '../values/value.js';
import { dynamicNull, itemsOf } from '../values/value.js';
import type { FunctionError } from './function.js';

/** The argument at an index. The count is checked before the body runs, so the null default is unreachable. */
export function argumentAt(args: readonly HclValue[], index: number): HclValue {
  return args[index] ?? dynamicNull;
}

/** The string of an argument whose parameter has the type string. */
export function textAt(args: readonly HclValue[], index: number): string {
  const value = args[index];
  return value?.kind === 'string' ? value.value : '';
}

/** The number of an argument whose parameter has the type number. */
export function numberAt(args: readonly HclValue[], index: number): HclNumber {
  const value = args[index];
  return value?.kind === 'number' ? value.value : 0;
}

/** The items of an argument whose parameter is a list or set. */
export function itemsAt(args: readonly HclValue[], index: number): readonly HclValue[] {
  const value = args[index];
  return value === undefined ? [] : (itemsOf(value) ?? []);
}

/** An integer argument: a count, position or size. With `blame` the error refers to the argument, otherwise to the call. */
export function integerAt(
  args: readonly HclValue[],
  index: number,
  name: string,
  blame = false,
): Result<number, FunctionError> {
  const number = numberAt(args, index);
  const whole = toSafeInteger(number);
  if (whole !== undefined) return ok(whole);
  const bound = isWhole(number) ? ` of at most ${Number.MAX_SAFE_INTEGER}` : '';
  const message = `${name} must be a whole number${bound}, not ${shortened(numberText(number))}`;
  return err(blame ? { type: 'invalid_argument', message, argument: index } : { type: 'function_failed', message });
}

/** A string for a message, truncated if it is long. */
export function shortened(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
