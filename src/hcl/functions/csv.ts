import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { Budget } from '../evaluate/budget.js';
import type { HclValue } from '../values/value.js';
import { listValue, normalizeText, objectOf, objectValue, stringType, stringValue } from '../values/value.js';
import type { CallResult, FunctionError } from './function.js';
import { fail, overBudget } from './function.js';

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
  const items: HclValue[] = [];
  for (const { fields, line } of rows) {
    if (fields.length !== names.length) {
      return fail(`line ${line} of the CSV text has ${fields.length} fields, the header has ${names.length}`);
    }
    items.push(objectValue(names.map((name, at): [string, HclValue] => [name, stringValue(fields[at] ?? '')])));
  }
  return ok(listValue(objectOf(names.map((name) => [name, stringType])), items));
}

interface Row {
  readonly fields: readonly string[];
  readonly line: number;
}

/** An unquoted field, up to a comma, quote or line end. */
const PLAIN = /[^,"\n]*/y;
const QUOTED = /"([^"]*(?:""[^"]*)*)"/y;

function parseRows(source: string, budget: Budget): Result<readonly Row[], FunctionError> {
  const text = source.replace(/\r\n/g, '\n').replace(/\r$/, '');
  const rows: Row[] = [];
  let at = 0;
  let line = 1;
  while (at < text.length) {
    if (text[at] === '\n') {
      at += 1;
      line += 1;
      continue;
    }
    const fields: string[] = [];
    const start = line;
    for (;;) {
      if (!budget.charge(1)) return overBudget('csvdecode');
      const quoted = text[at] === '"';
      const pattern = quoted ? QUOTED : PLAIN;
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) return fail(`the quote on line ${line} of the CSV text is never closed`);
      at += match[0].length;
      const field = quoted ? (match[1] ?? '').replaceAll('""', '"') : match[0];
      line += quoted ? field.split('\n').length - 1 : 0;
      fields.push(field);
      const after = text[at];
      if (after !== undefined && after !== ',' && after !== '\n') {
        return fail(`there is a quote in the middle of a field on line ${line} of the CSV text`);
      }
      at += 1;
      if (after !== ',') break;
    }
    line += 1;
    rows.push({ fields, line: start });
  }
  return ok(rows);
}
