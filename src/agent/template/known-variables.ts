import type { TemplateInputs, VariableName, VariableRead } from '../../templates/index.js';
import type { TaskVariables } from '../link/task-variables.js';

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
