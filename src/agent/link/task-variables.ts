import type { VariableName, VariableRead } from '../../templates/index.js';

/** A query for the variables that a task's templates read. */
export interface TaskVariablesQuery {
  readonly nodeId: string;
  /** The requesting process; absent for agents that do not identify it. */
  readonly instance?: string | undefined;
  /** An allocation of this node. */
  readonly allocationId: string;
  readonly task: string;
  /** At most 1,000, and as many prefixes. */
  readonly variables: readonly VariableRead[];
  /** Path prefixes whose variables are listed. */
  readonly prefixes: readonly VariableRead[];
  /** The version of the previous response to the same query: the next response waits for a change. Null: respond at once. */
  readonly known: string | null;
}

/** The variables that the task may currently read. If the caller has this version already, both lists are empty. */
export interface TaskVariables {
  /** Changes with any of the following members. */
  readonly version: string;
  /** In the order of the query; null for a variable that does not exist or that the task may not read. */
  readonly items: readonly (Readonly<Record<string, string>> | null)[];
  /** The names of the variables below each prefix, in the order of the query. */
  readonly lists: readonly (readonly VariableName[])[];
}

/** The maximum number of variables, and of prefixes, in one query. */
export const MAX_TASK_READS = 1000;

/** The maximum number of names in one list. */
export const MAX_LISTED_VARIABLES = 10_000;
