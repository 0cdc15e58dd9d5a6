import type { VariableName, VariableRead } from '../../templates/index.js';

/** The variables that the templates of a task read. */
export interface TaskVariablesQuery {
  readonly nodeId: string;
  /** Which process asks; absent for agents that do not say. */
  readonly instance?: string | undefined;
  /** An allocation of this node. */
  readonly allocationId: string;
  readonly task: string;
  /** At most 1,000, and as many prefixes. */
  readonly variables: readonly VariableRead[];
  /** Beginnings of paths whose variables are listed. */
  readonly prefixes: readonly VariableRead[];
  /** The version of an answer to the same question: the next answer comes when there is another one. Null: at once. */
  readonly known: string | null;
}

/** The variables at one time that the task may read. If the caller has this version already, both lists are empty. */
export interface TaskVariables {
  /** Changes when anything of the following does. */
  readonly version: string;
  /** In the order of the question; null where there is none that the task may read. */
  readonly items: readonly (Readonly<Record<string, string>> | null)[];
  /** The names of the variables below each prefix, in the order of the question. */
  readonly lists: readonly (readonly VariableName[])[];
}

/** Of the variables and of the prefixes of one question. */
export const MAX_TASK_READS = 1000;

/** Names in one list. */
export const MAX_LISTED_VARIABLES = 10_000;
