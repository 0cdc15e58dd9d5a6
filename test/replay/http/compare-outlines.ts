import { isRecord } from './transcript.js';

export interface StepDifference {
  /** JSON pointer into the outline: it begins with `/status`, `/headers`, `/json` or `/text`. */
  readonly pointer: string;
  readonly recorded: unknown;
  readonly ours: unknown;
}

const numbered = /<(uuid|dispatch|launch|class|index):(\d+)>/;
/** Where the upstream itself did not answer twice the same. */
const varies = '<varies>';

/**
 * What is different in each step. Numbered values are compared as a relation over the whole transcript: what was one id is one id
 * again, and indexes have the same order again; the numbers themselves do not count.
 */
export function differencesOf(
  recorded: readonly unknown[],
  ours: readonly unknown[],
): readonly (readonly StepDifference[])[] {
  const related = new Relations();
  return recorded.map((answer, at) =>
    answer === null || answer === undefined ? [] : compare(answer, ours[at], '', related),
  );
}

function compare(recorded: unknown, ours: unknown, pointer: string, related: Relations): readonly StepDifference[] {
  if (recorded === varies) return [];
  if (Array.isArray(recorded) && Array.isArray(ours) && recorded.length === ours.length) {
    return recorded.flatMap((one, at) => compare(one, ours[at], `${pointer}/${at}`, related));
  }
  if (isRecord(recorded) && isRecord(ours)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(ours)]);
    return [...names].flatMap((name) =>
      compare(recorded[name], ours[name], `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, related),
    );
  }
  const same =
    typeof recorded === 'string' && typeof ours === 'string' ? sameText(recorded, ours, related) : recorded === ours;
  return same ? [] : [{ pointer, recorded, ours }];
}

/** What stands between numbered values is equal, and they are related. */
function sameText(recorded: string, ours: string, related: Relations): boolean {
  const [left, right] = [recorded.split(numbered), ours.split(numbered)];
  if (left.length !== right.length) return false;
  return left.every((part, at) =>
    at % 3 === 2 ? related.agree(left[at - 1] as string, Number(part), Number(right[at])) : part === right[at],
  );
}

class Relations {
  readonly #pairs = new Map<string, [recorded: number, ours: number][]>();

  agree(kind: string, recorded: number, ours: number): boolean {
    const known = this.#pairs.get(kind) ?? [];
    this.#pairs.set(kind, known);
    const agrees = ([left, right]: readonly [number, number]): boolean =>
      kind === 'index'
        ? Math.sign(left - recorded) === Math.sign(right - ours)
        : (left === recorded) === (right === ours);
    if (!known.every(agrees)) return false;
    if (known.every(([left]) => left !== recorded)) known.push([recorded, ours]);
    return true;
  }
}
