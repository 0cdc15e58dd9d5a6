import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { Budget } from '../../evaluate/budget.js';
import { compareCodePoints, normalizeText } from '../../values/unicode.js';
import type { HclValue } from '../../values/value.js';
import { listValue, objectOf, objectValue, stringType, stringValue } from '../../values/value.js';
import { keyWork, normalizationWork } from '../../values/work.js';
import type { CallResult, FunctionError } from '../function.js';
import { fail, overBudget } from '../function.js';

/** Comma-separated values (RFC 4180) with a header row: a list of objects of strings. Empty lines are skipped. */
export function decodeCsv(text: string, budget: Budget): CallResult {
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
