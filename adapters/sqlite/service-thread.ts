import { Worker } from 'node:worker_threads';

/**
 * Starts a thread from a source string: a separate file would have to be found beside the host's bundle. It does not keep the
 * process alive. Undefined if no thread can be started: Node's permission model, no more handles.
 */
export function serviceThread(name: string, program: string, workerData: unknown): Worker | undefined {
  try {
    const worker = new Worker(program, {
      eval: true,
      workerData,
      name,
      // Does not inherit modules that the host preloads into its threads.
      execArgv: ['--no-warnings'],
      env: {},
    });
    worker.unref();
    return worker;
  } catch {
    return undefined;
  }
}
