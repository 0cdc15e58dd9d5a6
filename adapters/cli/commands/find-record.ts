import type { ResultAsync } from 'neverthrow';
import { SignalboxError } from '../../../src/client/index.js';
import { Stopped } from '../stopped.js';

type Answer<T> = ResultAsync<{ readonly value: T | undefined | null }, { readonly type: string }>;

/** The value of a read; throws `Stopped` naming the missing thing. */
export async function existing<T>(answer: Answer<T>, what: string): Promise<T> {
  const result = await answer;
  if (result.isOk()) {
    if (result.value.value === undefined || result.value.value === null) throw new Stopped(`there is no ${what}`);
    return result.value.value;
  }
  if (result.error.type.endsWith('_not_found') || result.error.type === 'not_found') {
    throw new Stopped(`there is no ${what}`);
  }
  throw new SignalboxError(result.error);
}

/**
 * The prefix to query for an ID: servers with Nomad's names accept only prefixes of whole bytes, two
 * digits each. `onlyMatch` then compares the rest.
 */
export function queryPrefix(beginning: string): string {
  const digits = beginning.replaceAll('-', '');
  return digits.length % 2 === 0 ? beginning : beginning.slice(0, -1);
}

/** The only listed item whose ID has this prefix. */
export function onlyMatch<T extends { readonly ID: string }>(listed: readonly T[], beginning: string, what: string): T {
  const items = listed.filter(({ ID }) => ID.startsWith(beginning));
  const exact = items.find(({ ID }) => ID === beginning);
  const [first, second] = items;
  if (exact !== undefined) return exact;
  if (first === undefined) throw new Stopped(`there is no ${what} ${beginning}`);
  if (second === undefined) return first;
  const ids = items.slice(0, 10).map(({ ID }) => `  ${ID}`);
  throw new Stopped(`${beginning} is the prefix of more than one ${what}:\n${ids.join('\n')}`);
}
