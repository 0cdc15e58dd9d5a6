import {
  type EnvironmentFault,
  type FaultyTemplate,
  type HeldOutputs,
  KnownVariables,
  parseEnvironment,
  type ReadTemplate,
  type RenderedTemplate,
  renderTemplates,
  stableOutputs,
  type TemplateChange,
  type TemplatesOutcome,
  templateChange,
} from '../../src/agent/template/render-templates.js';
import type { ChangeScript, TaskTemplate } from '../../src/jobs/document/task-parts.js';
import { mapProblem } from '../../src/jobs/validation/validate-strings.js';
import { parseTemplate, type TemplateInputs, type VariableRead } from '../../src/templates/index.js';
import type { RunnerContext } from './allocation/runner-context.js';
import { NumberNote } from './disk/note-keeper.js';
import { readWhole, type TaskPaths, targetOf, writeWhole } from './disk/task-target.js';
import { isTransientFault, messageOf } from './disk/text-file.js';
import { beforeAbort } from './waiting.js';

/** The most bytes of a template source file and of a rendered file that is read back. */
const maximumBytes = 16 * 1024 * 1024;

/** The files of a task's templates: sources in the task's folder, and rendered files. */
class TemplateFiles {
  readonly #paths: TaskPaths | null;
  readonly #fill: (text: string) => string;

  /** `paths` is null for a runner without a directory; `fill` interpolates references in paths. */
  constructor(paths: TaskPaths | null, fill: (text: string) => string) {
    this.#paths = paths;
    this.#fill = fill;
  }

  /** The source of the template. */
  async source({ SourcePath, EmbeddedTmpl }: TaskTemplate): Promise<string> {
    if (SourcePath === '') return EmbeddedTmpl;
    if (this.#paths === null) throw new TemplateRefused('A template in a file needs a runner with a data directory');
    const text = await readWhole(targetOf(this.#paths, this.#fill(SourcePath)), maximumBytes);
    if (text === undefined) throw new TemplateRefused(`The template file ${SourcePath} does not exist`);
    return text;
  }

  /** The previous output; undefined if the file does not exist. */
  async rendered({ DestPath }: TaskTemplate): Promise<string | undefined> {
    return this.#paths === null ? undefined : readWhole(targetOf(this.#paths, this.#fill(DestPath)), maximumBytes);
  }

  async write(template: TaskTemplate, text: string): Promise<void> {
    if (this.#paths === null) {
      if (template.Envvars) return;
      throw new TemplateRefused('A template with a destination file needs a runner with a data directory');
    }
    const { Perms, Uid, Gid, DestPath } = template;
    const owner = { mode: Number.parseInt(Perms === '' ? '644' : Perms, 8), uid: ownerFrom(Uid), gid: ownerFrom(Gid) };
    await writeWhole(targetOf(this.#paths, this.#fill(DestPath)), text, owner);
  }
}

/** Negative numbers leave the file to the user that runs the runner. */
function ownerFrom(id: number | null): number | null {
  return id === null || id < 0 ? null : id;
}

/** A template cannot be read, rendered or written to its destination. */
class TemplateRefused extends Error {}

/** Variable names for a message. */
function namesOf(missing: readonly VariableRead[]): string {
  const names = [
    ...new Set(missing.map(({ path, namespace }) => (namespace === undefined ? path : `${path}@${namespace}`))),
  ];
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `the variable${names.length === 1 ? '' : 's'} ${names.slice(0, 5).join(', ')}${more}`;
}

function faultText({ at, fault }: FaultyTemplate): string {
  return `Template ${at + 1}, line ${fault.line}, column ${fault.column}: ${fault.message}`;
}

function lineText(at: number, { line, message }: EnvironmentFault): string {
  return `Template ${at + 1} rendered an invalid environment, line ${line}: ${message}`;
}

/** The dependencies of a task's templates. */
interface TemplatedTask {
  readonly nodeId: string;
  readonly allocationId: string;
  readonly task: string;
  readonly templates: readonly TaskTemplate[];
  /** Null if the runner has no directory: then only templates with `env = true` work. */
  readonly paths: TaskPaths | null;
  /** The task's values that templates can read. */
  readonly inputs: Pick<TemplateInputs, 'env' | 'meta'>;
  /** Interpolates references in paths. */
  readonly fill: (text: string) => string;
  /** Whether templates are rendered again at each start, whatever their files contain. */
  readonly rendersAgain: boolean;
}

/** Applies a change to the running task. */
export interface TemplateActions {
  readonly tell: (message: string) => void;
  readonly restart: (reason: string) => void;
  readonly signal: (name: string, reason: string) => void;
  /** False if the end of the task or of the runner aborted it. */
  readonly run: (script: ChangeScript) => Promise<boolean>;
}

/** Milliseconds between two failed queries. */
const askPause = 1000;
/** Milliseconds between two answers without a change. */
const idlePause = 100;
/** The most rounds in which the answers make templates ask for more variables. */
const maximumRounds = 20;
const restartReason = 'Template with change_mode restart re-rendered';

/**
 * The templates of one task: renders them before the task starts, delays the start while variables are missing, and watches for changes
 * while it runs. A pending change action is recorded on disk before the files change.
 */
export class TaskTemplates {
  environment: Readonly<Record<string, string>> = {};
  /** Current and earlier values of the variables that the templates have read; null until this agent has read all of them. */
  secrets: ReadonlySet<string> | null = null;
  readonly #task: TemplatedTask;
  readonly #context: Pick<RunnerContext, 'link' | 'clock' | 'ids' | 'background'>;
  readonly #actions: TemplateActions;
  readonly #files: TemplateFiles;
  readonly #texts = new Map<number, string>();
  readonly #values = new Set<string>();
  /** New outputs that wait, and the time when the first of them is to be written. */
  #held: HeldOutputs = new Map();
  #heldUntil: number | undefined;
  /**
   * The templates whose change actions are pending: written before the files change, so that an agent that restarts
   * after a crash still restarts the task, sends the signal or runs the script.
   */
  readonly #note: NumberNote;
  #known = new KnownVariables();
  #watching = new AbortController();
  /** The watch of the current or previous run; never rejects. */
  #watched: Promise<unknown> = Promise.resolve();
  #said = '';
  /** Templates whose scripts of the first rendering have not finished: a restart or a crash of the agent may abort them. */
  readonly #firstScripts: NumberNote;

  constructor(
    task: TemplatedTask,
    context: Pick<RunnerContext, 'link' | 'clock' | 'ids' | 'background'>,
    actions: TemplateActions,
  ) {
    this.#task = task;
    this.#context = context;
    this.#actions = actions;
    this.#files = new TemplateFiles(task.paths, task.fill);
    this.#note = new NumberNote(task.paths, 'changed-templates.json');
    this.#firstScripts = new NumberNote(task.paths, 'first-scripts.json');
  }

  /** Renders and writes the templates that are due. Throws `TemplateRefused` for permanent faults. */
  async prepare(signal: AbortSignal): Promise<void> {
    // The previous watch may still be writing the same files.
    this.end();
    await beforeAbort(signal, this.#watched);
    if (signal.aborted) return;
    const first = this.#texts.size === 0;
    const rendered = await this.#rendered(await this.#read(first ? 'all' : 'changing'), signal, 'wait');
    if (rendered === undefined) return;
    if (first) await this.#noteFirstScripts();
    await this.#write(rendered, first || this.#task.rendersAgain);
    this.#held = new Map();
    this.#heldUntil = undefined;
    // The task is about to start, so it reads the new files in any case.
    await this.#note.clear();
  }

  /** After a restart of the agent: the running task has read the files on disk, except for the pending changes in the note. */
  async recall(): Promise<void> {
    if (this.#task.paths === null) return;
    for (const [at, template] of this.#task.templates.entries()) {
      const text = await this.#files.rendered(template);
      if (text !== undefined) this.#texts.set(at, text);
    }
    this.#environment(this.#texts);
  }

  /** The task is running: from now on changes are applied to it. */
  watch(): void {
    this.#watching.abort();
    const controller = new AbortController();
    this.#watching = controller;
    const watched = this.#watch(controller.signal);
    this.#watched = watched.catch(() => undefined);
    this.#context.background.run('watching templates', watched);
  }

  /** The task has ended. */
  end(): void {
    this.#watching.abort();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    await this.#insist(signal, () => this.#runFirstScripts(signal));
    await this.#insist(signal, async () =>
      this.#act(templateChange(this.#templatesAt(await this.#note.read())), signal),
    );
    // A restarted agent has not queried anything yet.
    if (this.#known.isEmpty) await this.#insist(signal, () => this.#refresh(signal));
    while (!signal.aborted && !this.#known.isEmpty) {
      const { version } = this.#known;
      const isDue = version !== null && (await this.#changedOrDue(version, signal));
      if (!isDue) await this.#context.clock.sleep(version === null ? askPause : idlePause, signal);
      if (signal.aborted) return;
      if (isDue || version === null) await this.#insist(signal, () => this.#refresh(signal));
    }
  }

  async #noteFirstScripts(): Promise<void> {
    await this.#firstScripts.clear();
    const scripted = [...this.#task.templates.entries()].filter(([, template]) => firstScript(template) !== undefined);
    if (scripted.length > 0) await this.#firstScripts.add(scripted.map(([at]) => at));
  }

  async #runFirstScripts(signal: AbortSignal): Promise<void> {
    for (const at of await this.#firstScripts.read()) {
      const template = this.#task.templates[at];
      const script = template === undefined ? undefined : firstScript(template);
      if (script !== undefined && !(await this.#actions.run(script))) return;
      await this.#firstScripts.remove(at);
      if (signal.aborted) return;
    }
  }

  /** Repeats a failed step: the disk may be full or the server unreachable. */
  async #insist(signal: AbortSignal, step: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await step();
        return;
      } catch (error) {
        // The task has ended, and its files may be gone.
        if (signal.aborted) return;
        this.#tellOnce(messageOf(error));
        if (!isTransientFault(error)) return;
      }
      await this.#context.clock.sleep(askPause, signal);
    }
  }

  /** Waits for the next answer, or until a waiting output is due. */
  async #changedOrDue(version: string, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#context;
    const until = this.#heldUntil;
    if (until === undefined) return this.#hasChanged(version, signal);
    if (until <= clock.monotonic()) return true;
    const either = new AbortController();
    const first = AbortSignal.any([signal, either.signal]);
    const waited = clock.sleep(until - clock.monotonic(), first).then(() => true);
    const changed = this.#hasChanged(version, first);
    // An aborted query may reject when nothing awaits it any more.
    changed.catch(() => undefined);
    try {
      return await Promise.race([waited, changed]);
    } finally {
      either.abort();
    }
  }

  async #hasChanged(version: string, signal: AbortSignal): Promise<boolean> {
    const answer = await this.#ask(version, signal);
    return answer !== undefined && answer.version !== version;
  }

  /**
   * Renders again, writes changed outputs that are due, and applies the change actions. With an incomplete answer nothing changes.
   */
  async #refresh(signal: AbortSignal): Promise<void> {
    const before = new Map(this.#texts);
    const rendered = await this.#rendered(await this.#read('changing'), signal, 'tell');
    if (rendered === undefined || signal.aborted) return;
    const changed = rendered.filter(({ at, text }) => before.get(at) !== text);
    const now = this.#context.clock.monotonic();
    const { due, held, next } = stableOutputs(changed, this.#task.templates, this.#held, now);
    if (due.length > 0) {
      await this.#note.add(due.map(({ at }) => at));
      await this.#write(due, false);
    }
    this.#held = held;
    this.#heldUntil = next;
    if (due.length === 0) return;
    await this.#act(templateChange(this.#templatesAt(await this.#note.read())), signal);
  }

  async #act(change: TemplateChange, signal: AbortSignal): Promise<void> {
    const { restart, signals, scripts, splay } = change;
    if (restart || signals.length > 0 || scripts.length > 0) {
      const { clock, ids } = this.#context;
      await clock.sleep(splay * ids.fraction(), signal);
      if (signal.aborted) return;
    }
    // The note of a restart is cleared by the preparation of the next start.
    if (restart) return this.#actions.restart(restartReason);
    for (const name of signals) this.#actions.signal(name, 'Template re-rendered');
    for (const script of scripts) {
      // Its note remains, so the next runner runs it again.
      if (!(await this.#actions.run(script))) return;
    }
    await this.#note.clear();
  }

  /** Undefined if the wait was aborted, or if a variable is missing and the caller does not wait for it. */
  async #rendered(
    templates: readonly ReadTemplate[],
    signal: AbortSignal,
    whenMissing: 'wait' | 'tell',
  ): Promise<readonly RenderedTemplate[] | undefined> {
    this.#known = new KnownVariables();
    for (let rounds = 0; rounds <= maximumRounds; ) {
      const outcome = this.#render(templates);
      if (outcome.type === 'rendered') {
        this.secrets = this.#values;
        return outcome.rendered;
      }
      if (outcome.type === 'missing') {
        this.#tellOnce(`Waiting for ${namesOf(outcome.missing)}`);
        if (whenMissing === 'tell') return undefined;
      } else rounds += 1;
      const answer = await this.#ask(outcome.type === 'missing' ? this.#known.version : null, signal);
      if (answer === undefined || signal.aborted) return undefined;
      for (const items of answer.items) for (const value of Object.values(items ?? {})) this.#values.add(value);
      if (answer.version === this.#known.version) await this.#context.clock.sleep(idlePause, signal);
      else this.#known.learn(answer);
    }
    throw new TemplateRefused(
      'The templates read too many variables in a chain, each named by the value of the one before',
    );
  }

  #render(templates: readonly ReadTemplate[]): TemplatesOutcome {
    const outcome = renderTemplates(templates, this.#known, this.#task.inputs);
    if (outcome.isErr()) throw new TemplateRefused(faultText(outcome.error));
    return outcome.value;
  }

  /** Queries until there is an answer; undefined if the signal aborts first. */
  async #ask(known: string | null, signal: AbortSignal) {
    const { nodeId, allocationId, task } = this.#task;
    const { link, clock } = this.#context;
    const query = { nodeId, allocationId, task, ...this.#known.questions, known };
    while (!signal.aborted) {
      const answer = await link.variables(query, signal);
      if (answer.isOk()) return answer.value;
      // The error of an aborted query says nothing about the server.
      if (signal.aborted) return undefined;
      const { error } = answer;
      if (error.type === 'node_refused') throw new TemplateRefused(error.message);
      if (error.type === 'link_failed') this.#tellOnce(`The variables cannot be read: ${error.message}`);
      await clock.sleep(askPause, signal);
    }
    return undefined;
  }

  /** Reads the template sources: those that may change, or all of them. */
  async #read(which: 'all' | 'changing'): Promise<ReadTemplate[]> {
    const read: ReadTemplate[] = [];
    for (const [at, template] of this.#task.templates.entries()) {
      if (which === 'changing' && template.Once && this.#texts.has(at)) continue;
      const delimiters = { left: template.LeftDelim, right: template.RightDelim };
      const parsed = parseTemplate(await this.#files.source(template), delimiters);
      if (parsed.isErr()) throw new TemplateRefused(faultText({ at, fault: parsed.error }));
      read.push({ at, template: parsed.value, failsWithoutKey: template.ErrMissingKey });
    }
    return read;
  }

  async #write(rendered: readonly RenderedTemplate[], always: boolean): Promise<void> {
    const texts = new Map(this.#texts);
    for (const { at, text } of rendered) texts.set(at, text);
    this.#environment(texts);
    for (const { at, text } of rendered) {
      const template = this.#task.templates[at];
      if (template !== undefined && (always || this.#texts.get(at) !== text)) await this.#files.write(template, text);
      this.#texts.set(at, text);
    }
  }

  /** Later templates override earlier ones. */
  #environment(texts: ReadonlyMap<number, string>): void {
    const environment: Record<string, string> = {};
    for (const [at, { Envvars }] of this.#task.templates.entries()) {
      if (!Envvars) continue;
      const parsed = parseEnvironment(texts.get(at) ?? '');
      if (parsed.isErr()) throw new TemplateRefused(lineText(at, parsed.error));
      const problem = mapProblem(parsed.value);
      if (problem !== undefined)
        throw new TemplateRefused(`Template ${at + 1} rendered an invalid environment: ${problem}`);
      Object.assign(environment, parsed.value);
    }
    this.environment = environment;
  }

  #templatesAt(changed: readonly number[]): TaskTemplate[] {
    return changed.flatMap((at) => this.#task.templates[at] ?? []);
  }

  #tellOnce(message: string): void {
    if (message === this.#said) return;
    this.#said = message;
    this.#actions.tell(`Template: ${message}`);
  }
}

function firstScript({ ChangeMode, ChangeScript }: TaskTemplate): ChangeScript | undefined {
  return ChangeMode === 'script' && ChangeScript?.RunOnFirstRender === true ? ChangeScript : undefined;
}
