/* Errors of calls of the interface about functions; `message` is written for the caller. */

/** There is no function of that name in the namespace. */
export interface FunctionNotFound {
  readonly type: 'function_not_found';
  readonly message: string;
}

/** There is no such run of a function in the namespace, or it is no longer kept. */
export interface FunctionRunNotFound {
  readonly type: 'function_run_not_found';
  readonly message: string;
}

/**
 * The run was not enqueued. `not_defined`: this process has no definition of the function, so it cannot check the input;
 * `mismatch`: the idempotency key belongs to a run with another input; `full`: the function has too many unfinished runs; `input`: the
 * input is refused.
 */
export interface EnqueueRefused {
  readonly type: 'enqueue_refused';
  readonly reason: 'input' | 'not_defined' | 'mismatch' | 'full';
  readonly message: string;
}

/** The job is that of a function or of a run, and the call is not for those: the code of the service decides, or there is nothing to change. */
export interface JobOfFunction {
  readonly type: 'job_of_function';
  /** Names what to do instead. */
  readonly message: string;
}

/** What calls of the interface about functions, and about the jobs of functions, may answer, beside what all calls may. */
export type FunctionCallError = FunctionNotFound | FunctionRunNotFound | EnqueueRefused | JobOfFunction;

export function functionNotFound(namespace: string, name: string): FunctionNotFound {
  return {
    type: 'function_not_found',
    message: `there is no function ${JSON.stringify(name.slice(0, 128))} in the namespace ${JSON.stringify(namespace.slice(0, 128))}`,
  };
}

export function functionRunNotFound(id: string): FunctionRunNotFound {
  return {
    type: 'function_run_not_found',
    message: `there is no run ${JSON.stringify(id.slice(0, 160))}: it may have been removed`,
  };
}
