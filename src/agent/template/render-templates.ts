import { err, ok, type Result } from 'neverthrow';
import type { ChangeScript, TaskTemplate } from '../../jobs/document/task-parts.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import { resultOr } from '../../shared/values.js';
import type { Template, TemplateFault, TemplateInputs, VariableName, VariableRead } from '../../templates/index.js';
import type { TaskVariables } from '../link/node-work.js';
import { signalName } from '../task/task-life.js';

export interface EnvironmentFault {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/**
 * Parses `NAME=value` lines, as templates with `env = true` produce them (guide to templates). Empty lines and comments are skipped,
 * a leading `export` is allowed, a single-quoted value is literal, a double-quoted one has JSON's escapes.
 */
export function parseEnvironment(text: string): Result<Readonly<Record<string, string>>, EnvironmentFault> {
  const found = new Map<string, string>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const entry = parseLine(content);
    if (typeof entry === 'string') return err({ line: at + 1, message: entry });
    found.set(entry.name, entry.value);
  }
  return ok(Object.fromEntries(found));
}

function parseLine(line: string): { readonly name: string; readonly value: string } | string {
  const equals = line.indexOf('=');
  if (equals < 0) return 'missing = between name and value';
  const name = line
    .slice(0, equals)
    .trim()
    .replace(/^export\s+/, '');
  if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) {
    return 'a name begins with a letter or underscore and has letters, digits, underscores, dots and hyphens';
  }
  const value = parseValue(line.slice(equals + 1).trim());
  if (value === undefined) return 'the value has an unterminated quote or an invalid escape';
  return value.includes('\0') ? 'the value contains a NUL character' : { name, value };
}

/** A trailing comment begins with white space and `#`. */
const part = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\s+#.*$|^#.*$)|(\s+|[^\s"']+)/gy;

function parseValue(text: string): string | undefined {
  let value = '';
  let read = 0;
  for (const [whole, double, single, comment, plain] of text.matchAll(part)) {
    read += whole.length;
    if (comment !== undefined) break;
    const next = double === undefined ? (single ?? plain ?? '') : unescaped(whole);
    if (next === undefined) return undefined;
    value += next;
  }
  const isWhole = read === text.length;
  return isWhole ? value : undefined;
}

function unescaped(quoted: string): string | undefined {
  return resultOr(undefined, () => JSON.parse(quoted.replaceAll('\t', '\\t')) as string);
}

/** How a running task is notified of changed templates. */
export interface TemplateChange {
  readonly restart: boolean;
  /** Distinct signals, with `SIG`; empty with a restart. */
  readonly signals: readonly string[];
  /** Empty with a restart. */
  readonly scripts: readonly ChangeScript[];
  /** Upper bound of the random delay before the action. */
  readonly splay: Milliseconds;
}

type Changing = Pick<TaskTemplate, 'ChangeMode' | 'ChangeSignal' | 'ChangeScript' | 'Splay'>;

/** Combines the change modes of the changed templates: a restart replaces all other actions (guide to templates). */
export function templateChange(changed: readonly Changing[]): TemplateChange {
  const acting = changed.filter(({ ChangeMode }) => ChangeMode !== 'noop');
  const restart = acting.some(({ ChangeMode }) => ChangeMode === 'restart');
  const signals = new Set(
    acting.flatMap(({ ChangeMode, ChangeSignal }) => (ChangeMode === 'signal' ? [signalName(ChangeSignal)] : [])),
  );
  const scripts = acting.flatMap(({ ChangeMode, ChangeScript }) =>
    ChangeMode === 'script' && ChangeScript !== null ? [ChangeScript] : [],
  );
  return {
    restart,
    signals: restart ? [] : [...signals],
    scripts: restart ? [] : scripts,
    splay: Math.max(0, ...acting.map(({ Splay }) => millisecondsFromNanos(Splay))),
  };
}

/** A rendered template of a task. */
export interface ReadTemplate {
  /** Its index in the task, from 0. */
  readonly at: number;
  readonly template: Template;
  readonly failsWithoutKey: boolean;
}

export interface RenderedTemplate {
  readonly at: number;
  readonly text: string;
}

export interface FaultyTemplate {
  readonly at: number;
  readonly fault: TemplateFault;
}

/** The result of rendering all templates of a task with the current values. */
export type TemplatesOutcome =
  /** A requested variable has not been received yet. */
  | { readonly type: 'unknown' }
  /** A template reads variables that do not exist. */
  | { readonly type: 'missing'; readonly missing: readonly VariableRead[] }
  | { readonly type: 'rendered'; readonly rendered: readonly RenderedTemplate[] };

/** Renders the templates of a task. Errors count only when all requested variables have been received. */
export function renderTemplates(
  templates: readonly ReadTemplate[],
  known: KnownVariables,
  context: Pick<TemplateInputs, 'env' | 'meta'>,
): Result<TemplatesOutcome, FaultyTemplate> {
  const inputs: TemplateInputs = { ...context, ...known.inputs };
  const rendered: RenderedTemplate[] = [];
  const missing: VariableRead[] = [];
  let faulty: FaultyTemplate | undefined;
  for (const { at, template, failsWithoutKey } of templates) {
    const rendering = template.render(inputs, { failsWithoutKey });
    if (rendering.isErr()) {
      faulty ??= { at, fault: rendering.error };
      continue;
    }
    rendered.push({ at, text: rendering.value.text });
    missing.push(...rendering.value.missing);
  }
  if (!known.isEmpty && known.version === null) return ok({ type: 'unknown' });
  if (faulty !== undefined) {
    return known.missing.length > 0 ? ok({ type: 'missing', missing: known.missing }) : err(faulty);
  }
  return ok(missing.length > 0 ? { type: 'missing', missing } : { type: 'rendered', rendered });
}

/** New output of a template that is held back until it has been stable for a while. Times are monotonic milliseconds. */
interface HeldOutput {
  readonly text: string;
  /** When the output first differed from what the task has. */
  readonly since: Milliseconds;
  /** When the output changed last. */
  readonly changedAt: Milliseconds;
}

export type HeldOutputs = ReadonlyMap<number, HeldOutput>;

interface QuietTexts {
  /** The output to write now. */
  readonly due: readonly RenderedTemplate[];
  /** By template index. */
  readonly held: HeldOutputs;
  /** When the first held output is due if nothing changes before; undefined when none is held. */
  readonly next: Milliseconds | undefined;
}

/**
 * Decides which new output is written: what has been stable for its template's minimum wait, or has differed for the maximum
 * wait. `changed` are the templates whose output differs from what the task has; all others are no longer held.
 */
export function stableOutputs(
  changed: readonly RenderedTemplate[],
  templates: readonly Pick<TaskTemplate, 'Wait'>[],
  before: HeldOutputs,
  now: Milliseconds,
): QuietTexts {
  const due: RenderedTemplate[] = [];
  const held = new Map<number, HeldOutput>();
  let next: Milliseconds | undefined;
  for (const rendered of changed) {
    const { at, text } = rendered;
    const known = before.get(at);
    const since = known?.since ?? now;
    const changedAt = known?.text === text ? known.changedAt : now;
    const dueTime = dueAt(templates[at]?.Wait ?? null, { text, since, changedAt });
    if (dueTime <= now) due.push(rendered);
    else {
      held.set(at, { text, since, changedAt });
      next = Math.min(next ?? dueTime, dueTime);
    }
  }
  return { due, held, next };
}

/** The maximum wait is four times the minimum unless it is set. */
function dueAt(wait: TaskTemplate['Wait'], { since, changedAt }: HeldOutput): Milliseconds {
  if (wait === null) return since;
  const shortest = wait.Min ?? 0;
  const longest = Math.max(shortest, wait.Max ?? 4 * shortest);
  return Math.min(changedAt + millisecondsFromNanos(shortest), since + millisecondsFromNanos(longest));
}

/** The variables that templates have requested, with the values received so far. */
export class KnownVariables {
  readonly #items = new Map<
    string,
    { readonly read: VariableRead; value: TaskVariables['items'][number] | undefined }
  >();
  readonly #lists = new Map<string, { readonly read: VariableRead; value: readonly VariableName[] | undefined }>();
  #version: string | null = null;

  /** Null until a response has covered all requested variables. */
  get version(): string | null {
    return this.#version;
  }

  get questions(): { readonly variables: readonly VariableRead[]; readonly prefixes: readonly VariableRead[] } {
    return {
      variables: [...this.#items.values()].map(({ read }) => read),
      prefixes: [...this.#lists.values()].map(({ read }) => read),
    };
  }

  get isEmpty(): boolean {
    return this.#items.size + this.#lists.size === 0;
  }

  /** Requested variables that do not exist, according to the last response. */
  get missing(): readonly VariableRead[] {
    return [...this.#items.values()].filter(({ value }) => value === null).map(({ read }) => read);
  }

  /** What a template sees: undefined for variables that no response has covered yet. */
  readonly inputs: Pick<TemplateInputs, 'variable' | 'variables'> = {
    variable: (path, namespace) => this.#ask(this.#items, path, namespace) ?? undefined,
    variables: (path, namespace) => this.#ask(this.#lists, path, namespace) ?? [],
  };

  /** Applies the response to the current queries. */
  learn({ version, items, lists }: TaskVariables): void {
    for (const [at, entry] of [...this.#items.values()].entries()) entry.value = items[at] ?? null;
    for (const [at, entry] of [...this.#lists.values()].entries()) entry.value = lists[at] ?? [];
    this.#version = version;
  }

  #ask<T>(
    entries: Map<string, { readonly read: VariableRead; value: T | undefined }>,
    path: string,
    namespace: string | undefined,
  ): T | undefined {
    const key = `${namespace ?? ''}@${path}`;
    const known = entries.get(key);
    if (known !== undefined) return known.value;
    entries.set(key, { read: namespace === undefined ? { path } : { path, namespace }, value: undefined });
    this.#version = null;
    return undefined;
  }
}
