import { type Client, type JobInput, orThrow } from 'signalbox';

const task = { Name: 'greet', Driver: 'function', Config: { function: 'greet' } };
const job: JobInput = { ID: 'greeting', Type: 'batch', TaskGroups: [{ Name: 'main', Tasks: [task] }] };

/** Registers a job and waits for its end: the same lines in the service's process and over HTTP. Gives the versions of the job so far. */
export async function use(box: Client): Promise<number> {
  await orThrow(box.jobs.register({ ...job, Meta: { at: String(Date.now()) } }));
  let index = 0;
  for (;;) {
    const summary = await orThrow(box.jobs.summary('greeting', { index, wait: '10s' }));
    const { Complete = 0, Failed = 0 } = summary.value?.Summary['main'] ?? {};
    if (Failed > 0) throw new Error('the job has failed');
    const read = await orThrow(box.jobs.read('greeting'));
    if (Complete > 0 && read.value?.Status === 'dead') return read.value.Version + 1;
    index = summary.index;
  }
}
