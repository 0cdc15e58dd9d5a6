/** Position where a string stops being JSON, in UTF-16 units from its start. */
export interface JsonFault {
  /** The first invalid character; the length of the string when it ends too early. */
  readonly at: number;
  /** Start of the token that contains this character; `at` itself outside tokens. */
  readonly token: number;
  /** The part that was being read, such as `looking for beginning of value`, in the words that clients of the job interface compare. */
  readonly context: string;
}

type State = 'value' | 'first_item' | 'first_key' | 'key' | 'after_value';

interface Step {
  readonly at: number;
  readonly state: State;
}

type Container = '{' | '[';

/**
 * Finds the end of the first JSON value of a string, without trailing blanks, or what is wrong with it. Stores no values and
 * does not recurse, so that nesting costs no stack.
 */
export function jsonValueEnd(text: string, from = 0): number | JsonFault {
  const open: Container[] = [];
  let step: Step = { at: from, state: 'value' };
  for (;;) {
    if (step.state === 'after_value' && open.length === 0) return step.at;
    const next: Step | JsonFault = steps[step.state](text, skipJsonBlanks(text, step.at), open);
    if ('context' in next) return next;
    step = next;
  }
}

/** The first fault of a string that must contain exactly one JSON value; undefined when it does. */
export function jsonFaultIn(text: string, from = 0): JsonFault | undefined {
  const end = jsonValueEnd(text, from);
  if (typeof end !== 'number') return end;
  const at = skipJsonBlanks(text, end);
  return at === text.length ? undefined : faultAt(at, 'after top-level value');
}

/** The fault in the words that clients of the job interface compare; `ended` is the message for a string that ends too early. */
export function jsonFaultText(
  text: string,
  { at, context }: JsonFault,
  ended = 'unexpected end of JSON input',
): string {
  const character = text.codePointAt(at);
  return character === undefined ? ended : `invalid character ${quotedByte(character)} ${context}`;
}

/** The message for a value of another type than `wanted`, with the number if it does not fit. */
export function wrongJsonType(value: unknown, wanted: string): string {
  const number = typeof value === 'number' && / int(?:32)?$/.test(wanted) ? ` ${value}` : '';
  return `json: cannot unmarshal ${jsonKind(value)}${number} into Go ${wanted}`;
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const steps: Readonly<Record<State, (text: string, at: number, open: Container[]) => Step | JsonFault>> = {
  value: valueAt,
  first_item: (text, at, open) => (text[at] === ']' ? closed(at, open) : valueAt(text, at, open)),
  first_key: (text, at, open) => (text[at] === '}' ? closed(at, open) : keyAt(text, at)),
  key: keyAt,
  after_value: (text, at, open) => {
    const inObject = open.at(-1) === '{';
    if (text[at] === ',') return { at: at + 1, state: inObject ? 'key' : 'value' };
    if (text[at] === (inObject ? '}' : ']')) return closed(at, open);
    return faultAt(at, inObject ? 'after object key:value pair' : 'after array element');
  },
};

function closed(at: number, open: Container[]): Step {
  open.pop();
  return { at: at + 1, state: 'after_value' };
}

function valueAt(text: string, at: number, open: Container[]): Step | JsonFault {
  const character = text[at] ?? '';
  if (character === '{' || character === '[') {
    open.push(character);
    return { at: at + 1, state: character === '{' ? 'first_key' : 'first_item' };
  }
  const end = scalarEnd(text, at, character);
  return typeof end === 'number' ? { at: end, state: 'after_value' } : end;
}

function scalarEnd(text: string, at: number, first: string): number | JsonFault {
  if (first === '"') return stringEnd(text, at);
  if (/[-0-9]/.test(first)) return numberEnd(text, at);
  const word = words.find((candidate) => candidate[0] === first);
  return word === undefined ? faultAt(at, 'looking for beginning of value') : wordEnd(text, at, word);
}

function keyAt(text: string, at: number): Step | JsonFault {
  if (text[at] !== '"') return faultAt(at, 'looking for beginning of object key string');
  const end = stringEnd(text, at);
  if (typeof end !== 'number') return end;
  const colon = skipJsonBlanks(text, end);
  return text[colon] === ':' ? { at: colon + 1, state: 'value' } : faultAt(colon, 'after object key');
}

const words = ['true', 'false', 'null'];

function wordEnd(text: string, token: number, word: string): number | JsonFault {
  for (let of = 0; of < word.length; of += 1) {
    if (text[token + of] !== word[of]) {
      return { at: token + of, token, context: `in literal ${word} (expecting '${word[of]}')` };
    }
  }
  return token + word.length;
}

/** The parts of a number: allowed characters, and the message when the part is incomplete. */
const numberParts: readonly (readonly [begin: RegExp, rest: RegExp, context: string])[] = [
  [/-?/y, /0|[1-9][0-9]*/y, 'in numeric literal'],
  [/\./y, /[0-9]+/y, 'after decimal point in numeric literal'],
  [/[eE][+-]?/y, /[0-9]+/y, 'in exponent of numeric literal'],
];

function numberEnd(text: string, token: number): number | JsonFault {
  let at = token;
  for (const [begin, rest, context] of numberParts) {
    const begun = matchEnd(begin, text, at);
    if (begun === undefined) continue;
    const end = matchEnd(rest, text, begun);
    if (end === undefined) return { at: begun, token, context };
    at = end;
  }
  return at;
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** A run of literal characters, or one whole escape. */
const plainRun = /(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))/y;

function stringEnd(text: string, token: number): number | JsonFault {
  let at = token + 1;
  for (let next = matchEnd(plainRun, text, at); next !== undefined; next = matchEnd(plainRun, text, at)) at = next;
  if (text[at] === '"') return at + 1;
  if (text[at] !== '\\') return { at, token, context: 'in string literal' };
  if (text[at + 1] !== 'u') return { at: at + 1, token, context: 'in string escape code' };
  const digits = matchEnd(/[0-9a-fA-F]*/y, text, at + 2) ?? at;
  return { at: digits, token, context: 'in \\u hexadecimal character escape' };
}

/** The offset after the blanks that JSON allows between tokens. */
function skipJsonBlanks(text: string, from: number): number {
  return matchEnd(/[ \t\n\r]*/y, text, from) ?? from;
}

function faultAt(at: number, context: string): JsonFault {
  return { at, token: at, context };
}

const namedBytes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  39: "\\'",
  92: '\\\\',
};

/** A character in single quotes; for non-ASCII the first byte of its UTF-8 form, as clients expect. */
function quotedByte(codePoint: number): string {
  const [byte = 0] = new TextEncoder().encode(String.fromCodePoint(codePoint));
  const isControl = byte < 0x20 || byte === 0x7f;
  const named = namedBytes[byte] ?? (isControl ? `\\x${byte.toString(16).padStart(2, '0')}` : undefined);
  return `'${named ?? String.fromCharCode(byte)}'`;
}
