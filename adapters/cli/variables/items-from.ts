import { z } from 'zod';
import { isRecord } from '../../../src/shared/values.js';
import { findJsonFault } from '../json-fault.js';
import { Stopped } from '../stopped.js';

/** Items of a variable, and the metadata of the document that they came from. */
interface GivenItems {
  readonly items: Readonly<Record<string, string>>;
  readonly document?: DocumentFacts;
}

export interface DocumentFacts {
  readonly path: string | undefined;
  readonly namespace: string | undefined;
  /** The index that the document was read at. */
  readonly index: number | undefined;
}

/** The content of a file; `-` is standard input. */
type ReadFile = (path: string) => Promise<string>;

/*
 * Messages here never contain a value or an argument that may be one: arguments are named by their number, and files by
 * their path.
 */

/**
 * The items of a command line: `KEY=VALUE`, `KEY=@FILE` and `KEY=-` for the content of a file or of standard input,
 * `@FILE` and `-` for JSON. Later ones win. `KEY=\@…` and `KEY=\-` escape a leading `@` and `-`. Rejects with `Stopped`.
 */
export async function itemsFrom(words: readonly string[], read: ReadFile): Promise<GivenItems> {
  if (words.filter((word) => word === '-' || /^[^=]+=-$/.test(word)).length > 1) {
    throw new Stopped('standard input can be read only once', 2);
  }
  const items = new Map<string, string>();
  let document: DocumentFacts | undefined;
  for (const [at, word] of words.entries()) {
    const file = word === '-' ? '-' : word.startsWith('@') ? word.slice(1) : undefined;
    if (file === undefined) {
      const [key, value] = await pairFrom(word, at + 1, read);
      items.set(key, value);
      continue;
    }
    const given = itemsOfJson(await read(file), file === '-' ? 'standard input' : file);
    if (given.document !== undefined && document !== undefined) throw new Stopped('give one document of a variable', 2);
    document ??= given.document;
    for (const [key, value] of Object.entries(given.items)) items.set(key, value);
  }
  const given = { items: Object.fromEntries(items) };
  return document === undefined ? given : { ...given, document };
}

async function pairFrom(word: string, number: number, read: ReadFile): Promise<readonly [key: string, value: string]> {
  const equals = word.indexOf('=');
  if (equals < 1) throw new Stopped(`item ${number} must be KEY=VALUE, @FILE or -`, 2);
  const [key, value] = [word.slice(0, equals), word.slice(equals + 1)];
  if (value === '-' || value.startsWith('@')) return [key, await read(value === '-' ? '-' : value.slice(1))];
  return [key, /^\\[@-]/.test(value) ? value.slice(1) : value];
}

const texts = z.record(z.string(), z.string());

const variable = z.object({
  Items: texts,
  Path: z.string().optional(),
  Namespace: z.string().optional(),
  ModifyIndex: z.int().nonnegative().optional(),
});

/** An object of strings, or a variable as `var get --json` prints it. Rejects with `Stopped`, which names the members in question. */
export function itemsOfJson(text: string, source: string): GivenItems {
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    throw new Stopped(`${source}:${fault.line}:${fault.column}: ${fault.message}`);
  }
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Stopped(`${source}: expected an object with string values`);
  if (!isRecord(value['Items'])) {
    const items = texts.safeParse(value);
    if (items.success) return { items: items.data };
    throw new Stopped(`${source}: every item must be a string; ${pointersOf(items.error)}`);
  }
  const document = variable.safeParse(value);
  if (!document.success) throw new Stopped(`${source}: the variable cannot be read; ${pointersOf(document.error)}`);
  const { Items, Path, Namespace, ModifyIndex } = document.data;
  return { items: Items, document: { path: Path, namespace: Namespace, index: ModifyIndex } };
}

function pointersOf(error: z.ZodError): string {
  const pointers = error.issues.slice(0, 5).map(({ path }) => `/${path.map(String).join('/')}`);
  return `these are not valid: ${pointers.join(', ')}`;
}
