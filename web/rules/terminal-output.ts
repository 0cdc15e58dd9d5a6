/*
 * Output of tasks: lines with the escape codes of terminals. Colours and weight are kept; everything else that a terminal would
 * obey (titles, the clipboard, movements of the cursor, reports) is removed.
 */

interface Span {
  readonly text: string;
  /** Names of the styles: `bold`, `dim`, `italic`, `underline`, `fg-1`, `bg-4`. */
  readonly styles: readonly string[];
}

/**
 * SGR sequences keep their codes; other control sequences, strings (titles, clipboard, device control) and lone escapes vanish, also
 * unfinished ones. Each alternative matches as soon as it has begun, so that no output makes the search slow.
 */
const sequence =
  /\u001b\[([0-9;:]*)m|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

interface Style {
  flags: ReadonlySet<string>;
  fg: string | undefined;
  bg: string | undefined;
}

const plain: Style = { flags: new Set(), fg: undefined, bg: undefined };

/** The spans of a line, which begins without any style. */
export function spansOf(line: string): readonly Span[] {
  let style = plain;
  const spans: Span[] = [];
  let from = 0;
  const push = (text: string): void => {
    if (text !== '') spans.push({ text, styles: namesOf(style) });
  };
  for (const found of line.matchAll(sequence)) {
    push(line.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[1] !== undefined) style = applied(style, codesOf(found[1]));
  }
  push(line.slice(from));
  return spans;
}

/** The line without any escape codes, for searching and copying. */
export function withoutCodes(line: string): string {
  return line.replace(sequence, '');
}

/** Parameters, each with the parts that colons divide; those of colours may also follow as further parameters. */
function codesOf(text: string): readonly (readonly number[])[] {
  return text.split(';').map((each) => each.split(':').map(Number));
}

const flagOf: Readonly<Record<number, string>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 9: 'strike' };
const resets: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  29: ['strike'],
};

function applied(style: Style, codes: readonly (readonly number[])[]): Style {
  let { flags, fg, bg } = style;
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...parts] = codes[at] ?? [];
    const flag = flagOf[code];
    const reset = code === 4 && parts[0] === 0 ? resets[24] : resets[code];
    if (code === 0) ({ flags, fg, bg } = plain);
    else if (reset !== undefined) flags = new Set([...flags].filter((each) => !reset.includes(each)));
    else if (flag !== undefined) flags = new Set([...flags, flag]);
    else if (code === 38 || code === 48) {
      const [kind, index] = parts.length > 0 ? parts : [codes[at + 1]?.[0], codes[at + 2]?.[0]];
      if (parts.length === 0) at += kind === 5 ? 2 : 4;
      const colour = kind === 5 ? indexed(index) : undefined;
      if (code === 38) fg = colour;
      else bg = colour;
    } else if (code === 39) fg = undefined;
    else if (code === 49) bg = undefined;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) fg = String(code % 10);
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) bg = String(code % 10);
  }
  return { flags, fg, bg };
}

/** Of the 256 colours only the first 16 have a name here; others keep the usual colour. */
function indexed(code: number | undefined): string | undefined {
  return code !== undefined && code < 16 ? String(code % 8) : undefined;
}

function namesOf({ flags, fg, bg }: Style): readonly string[] {
  return [...flags, ...(fg === undefined ? [] : [`fg-${fg}`]), ...(bg === undefined ? [] : [`bg-${bg}`])];
}
