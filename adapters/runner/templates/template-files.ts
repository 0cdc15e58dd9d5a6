import type { EnvironmentFault } from '../../../src/agent/template/environment-text.js';
import type { FaultyTemplate } from '../../../src/agent/template/render-templates.js';
import type { TaskTemplate } from '../../../src/jobs/document/task-parts.js';
import type { VariableRead } from '../../../src/templates/index.js';
import type { TaskPaths } from '../disk/task-paths.js';
import { readWhole, targetOf, writeWhole } from '../disk/task-target.js';

/** The most bytes of a template source file and of a rendered file that is read back. */
const maximumBytes = 16 * 1024 * 1024;

/** The files of a task's templates: sources in the task's folder, and rendered files. */
export class TemplateFiles {
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
export class TemplateRefused extends Error {}

/** Variable names for a message. */
export function namesOf(missing: readonly VariableRead[]): string {
  const names = [
    ...new Set(missing.map(({ path, namespace }) => (namespace === undefined ? path : `${path}@${namespace}`))),
  ];
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `the variable${names.length === 1 ? '' : 's'} ${names.slice(0, 5).join(', ')}${more}`;
}

export function faultText({ at, fault }: FaultyTemplate): string {
  return `Template ${at + 1}, line ${fault.line}, column ${fault.column}: ${fault.message}`;
}

export function lineText(at: number, { line, message }: EnvironmentFault): string {
  return `Template ${at + 1} rendered an invalid environment, line ${line}: ${message}`;
}
