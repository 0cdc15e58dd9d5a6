import { wellFormed } from '../../shared/values.js';
import { MAX_DEPTH } from '../tree.js';
import { isItem, isList, isMap, isMetadata, kindOf, namesOf, textOf, type Value } from '../values.js';
import { type Call, exactly, made, ofTexts, smallFrom, type TemplateFunction, textsFrom } from './template-function.js';

/** Lists, maps and JSON. */
export const dataFunctions: Readonly<Record<string, TemplateFunction>> = {
  len: exactly(1, ([value], call) => {
    if (isList(value)) return BigInt(value.length);
    if (isMap(value)) return BigInt(value.size);
    const [text] = textsFrom([value], call) ?? [];
    return text === undefined ? undefined : BigInt(new TextEncoder().encode(text).length);
  }),
  index: { least: 2, most: Number.POSITIVE_INFINITY, run: ([value, ...keys], call) => indexed(value, keys, call) },
  slice: { least: 1, most: 3, run: ([value, from = 0n, to], call) => sliced(value, from, to, call) },
  in: exactly(2, ([list, value], call) => holds(list, value, call)),
  contains: exactly(2, ([value, list], call) => holds(list, value, call)),
  containsAll: quantified((found) => found.every(Boolean)),
  containsAny: quantified((found) => found.some(Boolean)),
  containsNone: quantified((found) => !found.some(Boolean)),
  containsNotAll: quantified((found) => !found.every(Boolean)),
  parseJSON: ofTexts(1, ([text = ''], call) => parsedJson(text, call)),
  toJSON: exactly(1, ([value], call) => jsonText(value, '', call)),
  toJSONPretty: exactly(1, ([value], call) => jsonText(value, '  ', call)),
};

function indexed(value: Value, keys: readonly Value[], call: Call): Value {
  let found = value;
  for (const key of keys) {
    if (isMap(found)) {
      const name = textOf(key);
      if (name === undefined) return call.fail(`the names of a map are strings, not ${kindOf(key)}`);
      found = found.get(name);
    } else if (isList(found)) {
      const at = smallFrom(key, call);
      if (at === undefined) return undefined;
      if (at < 0 || at >= found.length) {
        const place = call.isWritten(key) ? `place ${at}` : 'such place';
        return call.fail(`the list has no ${place}: it has ${found.length} items`);
      }
      found = found[at];
    } else {
      return call.fail(`${kindOf(found)} has no items`);
    }
  }
  return found;
}

/** String indexes count characters here; in Nomad's language they count bytes. */
function sliced(value: Value, from: Value, to: Value, call: Call): Value {
  const whole = isList(value) ? value : textsFrom([value], call)?.[0];
  if (whole === undefined) return undefined;
  const points = isList(whole) ? whole : [...whole];
  const part = partOf(points.length, from, to, call);
  if (part === undefined || !call.spend(points.length)) return undefined;
  return isList(whole) ? whole.slice(...part) : points.slice(...part).join('');
}

/** Start and end of a slice, checked against the length; without an end the slice extends to the last element. */
function partOf(length: number, from: Value, to: Value, call: Call): readonly [number, number] | undefined {
  const [start, end] = [smallFrom(from, call), to === undefined ? length : smallFrom(to, call)];
  if (start === undefined || end === undefined) return undefined;
  if (start >= 0 && end >= start && end <= length) return [start, end];
  const areWritten = call.isWritten(from) && (to === undefined || call.isWritten(to));
  const part = areWritten ? `part from ${start} to ${end}` : 'such part';
  call.fail(`there is no ${part}: the length is ${length}`);
  return undefined;
}

/** Whether a list contains the number or string, or a string contains the other string. Values of other kinds are never found. */
function holds(list: Value, value: Value, call: Call): boolean | undefined {
  if (!isFindable(value)) return false;
  if (isList(list)) return call.spend(list.length * 16) ? list.includes(value) : undefined;
  if (typeof list !== 'string' || typeof value !== 'string') return false;
  return call.spend(list.length) ? list.includes(value) : undefined;
}

function isFindable(value: Value): boolean {
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number';
}

function quantified(decide: (found: readonly boolean[]) => boolean): TemplateFunction {
  return exactly(2, ([values, list], call) => {
    if (!isList(values)) return call.fail(`a list is needed here, not ${kindOf(values)}`);
    const found = values.map((value) => holds(list, value, call));
    return found.every((each) => each !== undefined) ? decide(found) : undefined;
  });
}

/** JSON numbers are floats, as in Nomad; without a fraction they print as integers. */
function parsedJson(text: string, call: Call): Value {
  if (text === '') return new Map();
  if (!call.spend(text.length * 8)) return undefined;
  try {
    return fromJson(JSON.parse(text) as Json, call, 0);
  } catch {
    return call.fail('the string is not JSON');
  }
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

function fromJson(value: Json, call: Call, depth: number): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return call.fail(`data may be nested at most ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return value.map((item: Json) => fromJson(item, call, depth + 1));
  return new Map(Object.entries(value).map(([name, item]) => [name, fromJson(item, call, depth + 1)]));
}

function jsonText(value: Value, indentation: string, call: Call): Value {
  const parts: string[] = [];
  const put = (text: string): boolean => {
    parts.push(text);
    return call.spend(text.length + 8);
  };
  return writeJson(value, put, indentation === '' ? undefined : { line: '\n', step: indentation })
    ? made(parts.join(''), call)
    : undefined;
}

interface Layout {
  /** Line break and indentation of the enclosing value. */
  readonly line: string;
  readonly step: string;
}

type Put = (text: string) => boolean;

function writeJson(value: Value, put: Put, layout: Layout | undefined): boolean {
  if (isList(value)) return writeItems(value, put, layout);
  if (isMap(value)) return writeMembers(value, put, layout);
  return put(scalarJson(value));
}

function writeItems(items: readonly Value[], put: Put, layout: Layout | undefined): boolean {
  if (items.length === 0) return put('[]');
  const inner = innerLayout(layout);
  const item = (value: Value, at: number): boolean => put(between(at, inner)) && writeJson(value, put, inner);
  return put('[') && items.every(item) && put(`${layout?.line ?? ''}]`);
}

function writeMembers(map: ReadonlyMap<string, Value>, put: Put, layout: Layout | undefined): boolean {
  if (map.size === 0) return put('{}');
  const inner = innerLayout(layout);
  const member = (name: string, at: number): boolean =>
    put(between(at, inner)) &&
    put(`${quotedJson(name)}:${layout === undefined ? '' : ' '}`) &&
    writeJson(map.get(name), put, inner);
  return put('{') && namesOf(map).every(member) && put(`${layout?.line ?? ''}}`);
}

function innerLayout(layout: Layout | undefined): Layout | undefined {
  return layout && { ...layout, line: layout.line + layout.step };
}

/** Separator before an item: after the previous item, or after the bracket. */
function between(at: number, inner: Layout | undefined): string {
  return (at === 0 ? '' : ',') + (inner?.line ?? '');
}

function scalarJson(value: Value): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? jsonNumber(value) : 'null';
  if (isItem(value)) return value.tuple ? tupleJson(value) : quotedJson(value.Value);
  return quotedJson(isMetadata(value) ? value.Path : String(value));
}

function tupleJson({ Key, Value: text }: { readonly Key: string; readonly Value: string }): string {
  return `{"K":${quotedJson(Key)},"V":${quotedJson(text)}}`;
}

/** With an exponent below 1e-6 and from 1e21. */
function jsonNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** As Nomad writes it: escaped for use in HTML. */
function quotedJson(text: string): string {
  return JSON.stringify(wellFormed(text)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
