import { suggestName } from '../diagnostics/suggest.js';
import { withNames } from '../evaluate/context.js';
import { firstStepName, freeReferences } from '../evaluate/references.js';
import type { Steps } from '../steps.js';
import type { Reference } from '../syntax/tree.js';
import { type HclValue, objectValue } from '../values/value.js';
import { type ContentAttribute, type ContentBlock, contentItems } from './content.js';
import { type Decoding, decodingProblem, nextItem, readerOf } from './decode-value.js';

interface Local {
  readonly item: ContentAttribute;
  /** Names of the locals that it uses; `all` if it uses `local` as a whole. */
  readonly uses: ReadonlySet<string>;
}

/** The attributes of all `locals` blocks, each evaluated after those that it uses, regardless of their order in the source. */
export function* evaluateLocals(decoding: Decoding, blocks: readonly ContentBlock[]): Steps<HclValue> {
  const items = collectItems(decoding, blocks);
  const locals = new Map<string, Local>();
  for (const [name, item] of items) locals.set(name, { item, uses: usedLocals(decoding, item, items) });
  const values = new Map<string, HclValue>();
  const waiting = new Map<string, number>();
  const users = new Map<string, string[]>();
  for (const [name, { uses }] of locals) {
    waiting.set(name, uses.size);
    for (const used of uses) {
      const known = users.get(used);
      if (known === undefined) users.set(used, [name]);
      else known.push(name);
    }
  }
  const ready = [...locals.keys()].filter((name) => waiting.get(name) === 0);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    const local = locals.get(name);
    if (local === undefined || !(yield* nextItem(decoding, local.item))) break;
    evaluateLocal(decoding, name, local, values);
    for (const user of users.get(name) ?? []) {
      const left = (waiting.get(user) ?? 0) - 1;
      waiting.set(user, left);
      if (left === 0) ready.push(user);
    }
  }
  reportCycles(decoding, locals, waiting);
  return objectValue(values);
}

function collectItems(decoding: Decoding, blocks: readonly ContentBlock[]): Map<string, ContentAttribute> {
  const items = new Map<string, ContentAttribute>();
  for (const block of blocks) {
    const [label] = block.labels;
    if (label !== undefined) decodingProblem(decoding, 'extra_label', label, 'A "locals" block takes no label.');
    for (const item of contentItems(readerOf(decoding), block.body, () => undefined)) {
      if (item.kind === 'block') {
        const message = 'A "locals" block holds attributes only.';
        decodingProblem(decoding, 'bad_local', item.typeSpan, {
          message,
          detail: `For an object write: ${item.type.slice(0, 60)} = { … }`,
        });
      } else if (items.has(item.name)) {
        const message = `The local "${item.name.slice(0, 60)}" is already defined.`;
        decodingProblem(decoding, 'duplicate_local', item.nameSpan, message);
      } else items.set(item.name, item);
    }
  }
  return items;
}

function usedLocals(
  decoding: Decoding,
  item: ContentAttribute,
  items: ReadonlyMap<string, ContentAttribute>,
): ReadonlySet<string> {
  const uses = new Set<string>();
  for (const reference of freeReferences(item.value)) {
    if (reference.name !== 'local') continue;
    const name = firstStepName(reference);
    if (name === undefined) {
      // Repeated use of the whole object is quadratic, so it is charged to the budget.
      if (!decoding.evaluation.budget.charge(items.size)) break;
      for (const other of items.keys()) uses.add(other);
    } else if (items.has(name)) uses.add(name);
    else reportMissing(decoding, reference, name, items);
  }
  return uses;
}

function reportMissing(
  decoding: Decoding,
  reference: Reference,
  name: string,
  items: ReadonlyMap<string, ContentAttribute>,
): void {
  const span = reference.steps[0] ?? reference;
  decodingProblem(decoding, 'missing_attribute', span, {
    message: `There is no local "${name.slice(0, 60)}".`,
    suggestion: () => suggestName(name, items.keys()),
  });
}

/** A local that depends on a failed one fails silently: the cause is already reported. */
function evaluateLocal(decoding: Decoding, name: string, local: Local, values: Map<string, HclValue>): void {
  const used: [string, HclValue][] = [];
  for (const each of local.uses) {
    const value = values.get(each);
    if (value === undefined) return;
    used.push([each, value]);
  }
  const missing = freeReferences(local.item.value).some((reference) => {
    const step = reference.name === 'local' ? firstStepName(reference) : undefined;
    return step !== undefined && !local.uses.has(step);
  });
  if (missing) return;
  const { evaluation } = decoding;
  const inner = withNames(evaluation, new Map([['local', objectValue(used)]]));
  const value = evaluation.evaluate(inner, local.item.value);
  if (value !== undefined) values.set(name, value);
}

function reportCycles(
  decoding: Decoding,
  locals: ReadonlyMap<string, Local>,
  waiting: ReadonlyMap<string, number>,
): void {
  const seen = new Set<string>();
  for (const [name, count] of waiting) {
    if (count === 0 || seen.has(name)) continue;
    // Following pending dependencies must return to a name already visited: the cycle begins there.
    const path: string[] = [];
    let at: string | undefined = name;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      path.push(at);
      at = nextWaiting(locals.get(at), waiting);
    }
    const from = at === undefined ? -1 : path.indexOf(at);
    if (at === undefined || from < 0) continue;
    const circle = [...path.slice(from), at];
    const shown = circle.length > 12 ? [...circle.slice(0, 11), '…', at] : circle;
    const local = locals.get(at);
    if (local === undefined) continue;
    const message = 'This local is defined in terms of itself.';
    decodingProblem(decoding, 'local_cycle', local.item.nameSpan, { message, detail: `${shown.join(' → ')}.` });
  }
}

function nextWaiting(local: Local | undefined, waiting: ReadonlyMap<string, number>): string | undefined {
  for (const used of local?.uses ?? []) if ((waiting.get(used) ?? 0) > 0) return used;
  return undefined;
}
