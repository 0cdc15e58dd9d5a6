import { writeFile } from 'node:fs/promises';
import { orThrow } from '../../../../src/client/index.js';
import type { Job, JobScaleStatus } from '../../../../src/index.js';
import { type Command, command, type Invocation } from '../../command-line/command.js';
import { tableOf, timeText } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { checkWaitFor, detachOrWait, followRegistration } from '../follow-write.js';
import { optional } from '../option-values.js';
import { print } from '../print.js';
import { inThe } from './job-commands.js';

const example = `job "example" {
  type = "service"

  group "web" {
    count = 1

    network {
      port "http" {}
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo listening on $NOMAD_PORT_http; exec sleep 3600"]
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
`;

const init = command({
  usage: 'job init [FILE]',
  summary: 'write an example job file (example.nomad.hcl)',
  local: true,
  raw: true,
  run: async ({ terminal }, path = 'example.nomad.hcl') => {
    await writeFile(path, example, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw new Stopped(
        error.code === 'EEXIST' ? `${path} already exists` : `${path} cannot be written: ${error.message}`,
      );
    });
    terminal.out(`${path} is written; signalbox job run ${path} runs it\n`);
    return 0;
  },
});

const start = command({
  usage: 'job start JOB',
  summary: 'register a stopped job again without changes and wait like job run',
  options: detachOrWait,
  run: async (invocation, jobId = '') => {
    const { options, box, inNamespace } = invocation;
    const job = await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
    if (!job.Stop) throw new Stopped(`job ${jobId} is not stopped`);
    checkWaitFor(options, job);
    const answer = await orThrow(
      box.jobs.register(inThe(inNamespace.namespace, { ...job, Stop: false }), {
        ...inNamespace,
        ...optional('submission', await submissionOf(invocation, job)),
        // Check-and-set: does not overwrite a concurrent registration.
        enforceIndex: job.JobModifyIndex,
      }),
    );
    return followRegistration(invocation, answer, {
      detached: options.detach,
      wait: options.wait,
      done: 'job started',
    });
  },
});

/** The source of the job, if the server has it. */
async function submissionOf({ box, inNamespace }: Invocation, { ID, Version }: Job) {
  const read = await box.jobs.submission(ID, Version, inNamespace);
  const kept = read.isOk() ? read.value.value : undefined;
  if (kept === undefined) return undefined;
  const { Source, Format, Variables, VariableFlags } = kept;
  return { Source, Format, Variables, ...optional('VariableFlags', VariableFlags ?? undefined) };
}

const scalingEvents = command({
  usage: 'job scaling-events JOB',
  summary: 'list the changes of the counts of a job, by people and programs, newest first',
  run: async (invocation, jobId = '') => {
    const status = await existing(invocation.box.jobs.scaleStatus(jobId, invocation.inNamespace), `job ${jobId}`);
    return print(invocation, eventsOf(status), (events) => {
      const rows = events.map(({ Group, Count, PreviousCount, Error: failed, Message, Time }) => [
        Group,
        Count === null ? '' : String(Count),
        String(PreviousCount),
        failed ? 'yes' : 'no',
        Message,
        timeText(Time),
      ]);
      return tableOf(['Group', 'Count', 'Before', 'Error', 'Message', 'Time'], rows, 'no scaling events');
    });
  },
});

function eventsOf({ TaskGroups }: JobScaleStatus) {
  return Object.entries(TaskGroups)
    .flatMap(([Group, { Events }]) => (Events ?? []).map((event) => ({ Group, ...event })))
    .sort((one, other) => other.Time - one.Time);
}

export const jobStartCommands: readonly Command[] = [init, start, scalingEvents];
