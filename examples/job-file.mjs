// A Nomad job file with variables, run as a real process; its output is read from the log.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentPorts, createEngine, hostPrincipal, orThrow } from 'signalbox';
import { parseJob } from 'signalbox/jobs';
import { memoryStorage } from 'signalbox/memory';
import { randomIds, systemClock } from 'signalbox/node';
import { createRunner, rawExecDriver } from 'signalbox/runner';
import { undiciDelivery } from 'signalbox/undici';

const source = `
variable "name" { type = string }
job "hello" {
  type = "batch"
  group "main" {
    task "hello" {
      driver = "raw_exec"
      config {
        command = "echo"
        args    = ["hello \${var.name}"]
      }
    }
  }
}`;
const delivery = undiciDelivery();
const engine = createEngine({ storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery });
const directory = mkdtempSync(join(tmpdir(), 'job-file-'));
const runner = createRunner(agentPorts(engine), { directory, drivers: [rawExecDriver()] });
engine.start();
await orThrow(runner.start());

const box = engine.as(hostPrincipal);
const { job } = orThrow(parseJob(source, { variableFlags: { name: 'world' } }));
await orThrow(box.jobs.register(job));
let answer = await orThrow(box.jobs.allocations('hello', { wait: '30s' }));
while (answer.value[0]?.ClientStatus !== 'complete')
  answer = await orThrow(box.jobs.allocations('hello', { index: answer.index, wait: '30s' }));
for await (const item of box.files.logs(answer.value[0].ID, { task: 'hello', type: 'stdout' }))
  if (item.type === 'piece') process.stdout.write(item.bytes);

await runner.stop();
await engine.stop();
await delivery.close();
