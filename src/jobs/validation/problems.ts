import { quoted } from '../../shared/values.js';

/** Receives one problem; the message includes its location. */
export type Report = (problem: string) => void;

/**
 * A report whose messages begin with the location: `within(report, 'group', 'web')` with `group "web": `. The prefix is built only when
 * there is a problem to report, since most jobs have none.
 */
export function within(report: Report, location: string, name?: string): Report {
  return (problem) => report(`${locationText(location, name)}: ${problem}`);
}

function locationText(location: string, name: string | undefined): string {
  return name === undefined ? location : `${location} ${quoted(name)}`;
}

/** Reports a problem if there is one. */
export function reportIf(report: Report, problem: string | undefined): void {
  if (problem !== undefined) report(problem);
}

/** The problems of one part of the job: a group, a constraint of the job, or the job as a whole. */
interface Part {
  /** Undefined for the job as a whole, whose parts have one problem each. */
  readonly location: string | undefined;
  readonly problems: string[];
}

/** Collects problems by part of the job. */
export interface Problems {
  /** A problem of the job as a whole. */
  readonly report: Report;
  /** Problems of one part; the part exists from its first problem on. */
  readonly within: (location: string, name?: string) => Report;
  readonly parts: readonly Part[];
}

export function gatherProblems(): Problems {
  const parts: Part[] = [];
  return {
    parts,
    report: (problem) => {
      parts.push({ location: undefined, problems: [problem] });
    },
    within: (location, name) => {
      let part: Part | undefined;
      return (problem) => {
        if (part === undefined) {
          part = { location: locationText(location, name), problems: [] };
          parts.push(part);
        }
        part.problems.push(problem);
      };
    },
  };
}

/** One sentence for each problem, with its location. */
export function problemsOf(parts: readonly Part[]): string[] {
  return parts.flatMap(({ location, problems }) =>
    location === undefined ? problems : problems.map((problem) => `${location}: ${problem}`),
  );
}

/** One string for each part; several problems of a part are listed below its location. */
export function textsByPart(parts: readonly Part[]): string[] {
  return parts.map(({ location, problems }) => {
    const [first = ''] = problems;
    const text = problems.length === 1 ? first : errorsText(problems);
    return location === undefined ? text : `${location}: ${text}`;
  });
}

/** Bytes of a string in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Each surrogate of a pair counts two of its four bytes.
    bytes += unit < 0x800 || isPaired(text, at, unit) ? 1 : 2;
  }
  return bytes;
}

function isPaired(text: string, at: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdfff) return false;
  if (unit < 0xdc00) return isLow(text.charCodeAt(at + 1));
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * The problem of a value outside the field's choices, for example `mode must be fail or delay, not "x"`; undefined for a valid
 * value. `name` is the field's name in the job specification.
 */
export function choiceProblem(
  name: string,
  field: { readonly values: readonly string[] },
  value: string,
): string | undefined {
  if (field.values.includes(value)) return undefined;
  const others = field.values.slice(0, -1).join(', ');
  return `${name} must be ${others === '' ? '' : `${others} or `}${field.values.at(-1)}, not ${quoted(value)}`;
}

/** Names for a message: quoted, at most as many as a person reads. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 20).map(quoted).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}

/**
 * Several errors as one string: a heading with their number, then one line each, and an empty line at the end. Clients of the job
 * interface show it unchanged.
 */
export function errorsText(errors: readonly string[]): string {
  const heading = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  return `${heading}\n${errors.map((error) => `\t* ${error}\n`).join('')}\n`;
}

/** Warnings as one string, or the empty string when there are none. */
export function warningsText(warnings: readonly string[]): string {
  if (warnings.length === 0) return '';
  const heading = warnings.length === 1 ? '1 warning:' : `${warnings.length} warnings:`;
  return `${heading}\n${warnings.map((warning) => `\n* ${warning}`).join('')}`;
}
