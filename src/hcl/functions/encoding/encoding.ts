import { err, ok, type Result } from 'neverthrow';
import { isBase64, resultOr, wellFormed } from '../../../shared/values.js';
import type { Budget } from '../../evaluate/budget.js';
import { meteredJsonText } from '../../values/plain.js';
import { compareCodePoints, normalizeText } from '../../values/unicode.js';
import {
  dynamicType,
  type HclValue,
  listValue,
  objectOf,
  objectValue,
  stringType,
  stringValue,
} from '../../values/value.js';
import { keyWork, normalizationWork } from '../../values/work.js';
import { argumentAt, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  type FunctionError,
  fail,
  nullableParameter,
  overBudget,
  parameter,
  perCharacter,
  perElement,
} from '../function.js';
import { holdsInfinity } from '../numbers.js';
import { decodeJson } from './json-decode.js';
import { decodeYaml } from './yaml-decode.js';
import { yamlText } from './yaml-encode.js';

/** Comma-separated values (RFC 4180) with a header row: a list of objects of strings. Empty lines are skipped. */
function decodeCsv(text: string, budget: Budget): CallResult {
  const parsed = parseRows(text, budget);
  if (parsed.isErr()) return err(parsed.error);
  const [header, ...rows] = parsed.value;
  if (header === undefined) return fail('the CSV text has no header row');
  const names = header.fields.map(normalizeText);
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return fail(`the CSV header names the column ${JSON.stringify(name)} twice`);
    seen.add(name);
  }
  // In the order of object attributes, so that rows need no sorting.
  const columns = [...names.keys()].sort((left, right) => compareCodePoints(names[left] ?? '', names[right] ?? ''));
  const rowWork = names.reduce((work, name) => work + COLUMN + keyWork(name.length), 0);
  const items: HclValue[] = [];
  for (const { fields, line } of rows) {
    if (fields.length !== names.length) {
      return fail(`line ${line} of the CSV text has ${fields.length} fields, the header has ${names.length}`);
    }
    if (!budget.charge(rowWork)) return overBudget('csvdecode');
    items.push(objectValue(columns.map((at): [string, HclValue] => [names[at] ?? '', stringValue(fields[at] ?? '')])));
  }
  return ok(listValue(objectOf(names.map((name) => [name, stringType])), items));
}

/** Units of work for one field, one attribute of a row, and one column. */
const FIELD = 5;
const COLUMN = 5;

interface Row {
  readonly fields: readonly string[];
  readonly line: number;
}

/** An unquoted field, up to a comma, quote or line end. */
const PLAIN = /[^,"\n]*/y;
const QUOTED = /"([^"]*(?:""[^"]*)*)"/y;

function parseRows(source: string, budget: Budget): Result<readonly Row[], FunctionError> {
  if (!budget.charge((source.length >>> 4) + normalizationWork(source))) return overBudget('csvdecode');
  const text = source.replace(/\r\n/g, '\n').replace(/\r$/, '');
  const cursor: Cursor = { text, at: 0, line: 1 };
  const rows: Row[] = [];
  while (cursor.at < text.length) {
    if (text[cursor.at] === '\n') {
      cursor.at += 1;
      cursor.line += 1;
      continue;
    }
    const row = readRow(cursor, budget);
    if (row.isErr()) return err(row.error);
    rows.push(row.value);
  }
  return ok(rows);
}

/** Position of the reader: an offset, and its line number. */
interface Cursor {
  readonly text: string;
  at: number;
  line: number;
}

function readRow(cursor: Cursor, budget: Budget): Result<Row, FunctionError> {
  const fields: string[] = [];
  const { text, line } = cursor;
  for (;;) {
    if (!budget.charge(FIELD)) return overBudget('csvdecode');
    const field = readField(cursor);
    if (field.isErr()) return err(field.error);
    fields.push(field.value);
    const after = text[cursor.at];
    if (after !== undefined && after !== ',' && after !== '\n') {
      return fail(`there is a quote in the middle of a field on line ${cursor.line} of the CSV text`);
    }
    cursor.at += 1;
    if (after === ',') continue;
    cursor.line += 1;
    return ok({ fields, line });
  }
}

function readField(cursor: Cursor): Result<string, FunctionError> {
  const quoted = cursor.text[cursor.at] === '"';
  const pattern = quoted ? QUOTED : PLAIN;
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text);
  if (match === null) return fail(`the quote on line ${cursor.line} of the CSV text is never closed`);
  cursor.at += match[0].length;
  if (!quoted) return ok(match[0]);
  const field = (match[1] ?? '').replaceAll('""', '"');
  cursor.line += field.split('\n').length - 1;
  return ok(field);
}

const text = parameter('text', stringType);

export const encodingFunctions: readonly EagerFunction[] = [
  defineFunction('base64encode', [text], (args) => ok(stringValue(base64FromBytes(bytesFromText(textAt(args, 0))))), {
    cost: (args) => 5 + perCharacter(1 / 16)(args),
  }),
  defineFunction('base64decode', [text], decodeBase64, { cost: (args) => 15 + perCharacter(1 / 8)(args) }),
  defineFunction('urlencode', [text], (args) => ok(stringValue(urlEncoded(textAt(args, 0)))), {
    cost: perCharacter(1 / 2),
  }),
  defineFunction('jsonencode', [nullableParameter('value', dynamicType)], encodeJson),
  defineFunction('jsondecode', [text], (args, { budget }) => decodeJson(textAt(args, 0), budget)),
  defineFunction(
    'yamlencode',
    [nullableParameter('value', dynamicType)],
    (args, { budget }) => {
      const text = yamlText(argumentAt(args, 0), budget);
      return text === undefined ? overBudget('yamlencode') : ok(stringValue(text));
    },
    { cost: perElement(3) },
  ),
  defineFunction('yamldecode', [text], (args, { budget }) => decodeYaml(textAt(args, 0), budget)),
  defineFunction('csvdecode', [text], (args, { budget }) => decodeCsv(textAt(args, 0), budget)),
];

function decodeBase64(args: readonly HclValue[]): CallResult {
  const bytes = bytesFromBase64(textAt(args, 0));
  if (bytes === undefined) return fail('the string is not Base64 with padding');
  const decoded = textFromBytes(bytes);
  return decoded === undefined ? fail('the decoded bytes are not UTF-8 text') : ok(stringValue(decoded));
}

/** Form encoding: a space becomes `+`; only letters, digits and `-_.~` stay. */
function urlEncoded(value: string): string {
  const encoded = encodeURIComponent(wellFormed(value));
  return Object.entries(FORM_ENCODED).reduce((text, [found, written]) => text.replaceAll(found, written), encoded);
}

/** Characters that form encoding escapes differently from the platform. */
const FORM_ENCODED = { '%20': '+', '!': '%21', "'": '%27', '(': '%28', ')': '%29', '*': '%2A' };

function encodeJson(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const value = argumentAt(args, 0);
  if (holdsInfinity(value)) return fail('an infinite number has no JSON form');
  const text = meteredJsonText(value, budget);
  return text === undefined ? overBudget('jsonencode') : ok(stringValue(text));
}

/** UTF-8; halves of surrogate pairs become the replacement character. */
export function bytesFromText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Decodes UTF-8, keeping a byte-order mark; undefined if the bytes are not UTF-8. */
export function textFromBytes(bytes: Uint8Array): string | undefined {
  return resultOr(undefined, () => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
}

export function base64FromBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Standard alphabet with padding; line breaks are skipped. Undefined for anything else. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\r\n]/g, '');
  return isBase64(compact) ? Buffer.from(compact, 'base64') : undefined;
}
