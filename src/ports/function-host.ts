import type { Handler } from '../functions/define-function.js';

/** The process that functions run in, and its machine. */
export interface FunctionHost {
  /** Names the process on its machine for ever, also after its process ID is used again; undefined when that cannot be known. */
  readonly identity: string | undefined;
  /** `unknown`: of another machine, or paused. */
  lifeOf(identity: string): 'alive' | 'dead' | 'unknown';
  /** A handler that runs the default export of a module in a thread, which ends with the attempt. */
  inThread(module: URL): Handler<unknown, unknown>;
}
