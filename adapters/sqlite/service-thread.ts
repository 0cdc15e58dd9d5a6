import { Worker } from 'node:worker_threads';

/**
 * Starts a thread whose program is text: a separate file would have to be found beside the bundles of hosts. It does not keep the
 * process alive. Undefined where there can be none: Node's permission model, no more handles.
 */
export function serviceThread(name: string, program: string, workerData: unknown): Worker | undefined {
  try {
    const worker = new Worker(program, {
      eval: true,
      workerData,
      name,
      // What the host preloads into its threads is not meant for this one.
      execArgv: ['--no-warnings'],
      env: {},
    });
    worker.unref();
    return worker;
  } catch {
    return undefined;
  }
}
