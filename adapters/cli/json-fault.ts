/** Where JSON text stops being JSON. Lines and columns count from 1, columns in UTF-16 units. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * The first fault of a JSON text, undefined when there is none. The engine's own parser does not always say where it
 * stopped, so this one walks the text again; it keeps no values and does not recurse.
 */
// oxlint-disable-next-line complexity, max-lines-per-function -- a scanner: one loop over the text, one branch for each thing expected
export function findJsonFault(text: string): JsonFault | undefined {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const open: ('{' | '[')[] = [];
  let expecting: 'value' | 'first_item' | 'first_key' | 'key' | 'after_value' = 'value';
  let at = start;

  const faultAt = (position: number, message: string): JsonFault => ({ ...positionOf(text, position), message });

  for (;;) {
    at = skipBlanks(text, at);
    const character = text[at];
    if (expecting === 'after_value') {
      const container = open.at(-1);
      if (container === undefined) {
        return character === undefined ? undefined : faultAt(at, 'only one value is expected');
      }
      if (character === ',') {
        expecting = container === '{' ? 'key' : 'value';
      } else if (character === (container === '{' ? '}' : ']')) {
        open.pop();
      } else {
        return faultAt(at, `"," or "${container === '{' ? '}' : ']'}" is expected here`);
      }
      at += 1;
      continue;
    }
    if (expecting === 'first_item' && character === ']') {
      open.pop();
      at += 1;
      expecting = 'after_value';
      continue;
    }
    if (expecting === 'first_key' || expecting === 'key') {
      if (expecting === 'first_key' && character === '}') {
        open.pop();
        at += 1;
        expecting = 'after_value';
        continue;
      }
      if (character !== '"') return faultAt(at, 'a key in double quotes is expected here');
      const end = endOfString(text, at);
      if (typeof end !== 'number') return faultAt(end.at, end.message);
      at = skipBlanks(text, end);
      if (text[at] !== ':') return faultAt(at, '":" is expected after the key');
      at += 1;
      expecting = 'value';
      continue;
    }
    if (character === '{' || character === '[') {
      open.push(character);
      at += 1;
      expecting = character === '{' ? 'first_key' : 'first_item';
      continue;
    }
    if (character === '"') {
      const end = endOfString(text, at);
      if (typeof end !== 'number') return faultAt(end.at, end.message);
      at = end;
    } else {
      scalar.lastIndex = at;
      const match = scalar.exec(text);
      if (match === null) return faultAt(at, 'a value is expected here');
      at = scalar.lastIndex;
    }
    expecting = 'after_value';
  }
}

const scalar = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text[at] as string)) at += 1;
  return at;
}

function endOfString(text: string, from: number): number | { readonly at: number; readonly message: string } {
  let at = from + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return { at, message: 'a control character in a text must be written as an escape' };
    if (code !== 0x5c) {
      at += 1;
      continue;
    }
    escapeSequence.lastIndex = at;
    if (!escapeSequence.test(text)) return { at, message: 'this escape does not exist' };
    at = escapeSequence.lastIndex;
  }
  return { at: from, message: 'this text has no closing quote' };
}

function positionOf(text: string, position: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: position - lineStart + 1 };
}
