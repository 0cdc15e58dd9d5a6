import { MAX_OUTPUT } from '../limits.js';
import { kindOf, printed, textOf, type Value } from '../values.js';
import { type Call, exactly, type TemplateFunction } from './template-function.js';

/** A function whose arguments are strings. */
export function ofTexts(count: number, run: (texts: readonly string[], call: Call) => Value): TemplateFunction {
  return exactly(count, (args, call) => {
    const texts = textsFrom(args, call);
    return texts && run(texts, call);
  });
}

/** The arguments as strings; their length is charged. */
export function textsFrom(args: readonly Value[], call: Call): readonly string[] | undefined {
  const texts: string[] = [];
  for (const value of args) {
    const text = textOf(value);
    if (text === undefined) return call.fail(`a string is needed here, not ${kindOf(value)}`);
    if (!call.spend(text.length)) return undefined;
    texts.push(text);
  }
  return texts;
}

/** A result string; its length is charged. */
export function made(text: string, call: Call): Value {
  return call.spend(text.length) ? text : undefined;
}

/** A value as it is printed; its length is charged. */
export function shown(value: Value, call: Call): string | undefined {
  const text = printed(value, MAX_OUTPUT);
  if (text === undefined) return call.fail('the value is too long to be printed');
  return call.spend(text.length) ? text : undefined;
}

/** A whole number that fits 32 bits, such as an index or a length. */
export function smallFrom(value: Value, call: Call): number | undefined {
  if (typeof value === 'bigint' && BigInt.asIntN(32, value) === value) return Number(value);
  return call.fail(`a whole number is needed here, not ${kindOf(value)}`);
}

/** The beginning of a string, quoted, for messages. */
export function quotedStart(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
