import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node-pty';
import { describe, expect, it } from 'vitest';
import { orThrow } from '../../../../src/client/index.js';
import { commandLine, temporaryFolder } from '../cli-process.js';
import { servedCommands } from '../served-commands.js';

/** Commands that show how something goes on, against a server with a real runner; once in a terminal. */

const served = servedCommands();
const { run, given } = served;

function jobFile(id: string, update: string, script = 'exec sleep 1000'): string {
  return `job "${id}" {
    group "app" {
      count = 2
      update {
        min_healthy_time = "100ms"
        ${update}
      }
      restart {
        attempts = 0
        mode     = "fail"
      }
      reschedule {
        attempts  = 0
        unlimited = false
      }
      task "main" {
        driver = "raw_exec"
        config {
          command = "/bin/sh"
          args    = ["-c", "${script}"]
        }
        resources {
          cpu    = 20
          memory = 16
        }
      }
    }
  }`;
}

async function deploymentOf(job: string): Promise<string> {
  return (await orThrow(served.box.jobs.latestDeployment(job))).value?.ID ?? '';
}

describe('job run', () => {
  it('goes on until the deployment is over', async () => {
    const files = { f: jobFile('healthy', '') };
    const { code, out } = await given({ files }, 'job', 'run', 'f');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^evaluation \w{8} \(.{36}\)\n( {2}allocation \w{8} of group "app" on .+\n){2}evaluation \w{8} is complete\ndeployment \w{8} \(.{36}\) of job "healthy", version 0\n/,
    );
    expect(out).toMatch(
      / {2}group "app": 2 of 2 placed, 2 healthy, 0 unhealthy\n(.*\n)*deployment \w{8} is successful: Deployment completed successfully\n$/,
    );
  });

  it('fails with a deployment that fails', async () => {
    // However slowly the task begins, it has failed before it counts as healthy.
    const files = { f: jobFile('broken', 'progress_deadline = "0s"', 'exit 1').replace('"100ms"', '"1m"') };
    const { code, out } = await given({ files }, 'job', 'run', 'f');
    expect(code).toBe(1);
    expect(out).toMatch(/deployment \w{8} is failed: .+\n$/);
    expect((await run('job', 'stop', '-purge', 'broken')).code).toBe(0);
  });

  it('does not wait for what has no room', async () => {
    const files = { f: jobFile('greedy', '').replace('memory = 16', 'memory = 900000000') };
    const { code, out } = await given({ files }, 'job', 'run', 'f');
    expect(code).toBe(2);
    expect(out).toMatch(/waits to place the rest\n$/);
    expect((await run('job', 'stop', '-purge', 'greedy')).code).toBe(0);
  });
});

describe('deployment status -monitor', () => {
  it('tells each change until the deployment is over', async () => {
    const files = { f: jobFile('manual', 'health_check = "manual"') };
    expect((await given({ files }, 'job', 'run', '-detach', 'f')).code).toBe(0);
    await expect.poll(() => deploymentOf('manual')).not.toBe('');
    const id = await deploymentOf('manual');
    // Each step is taken when the one before was told.
    const steps = [
      { told: /is running: Deployment is running\n$/, take: () => served.box.deployments.pause(id, { pause: true }) },
      { told: /is paused: .+\n$/, take: () => served.box.deployments.fail(id) },
    ];
    const onOutput = (out: string): void => {
      if (steps[0]?.told.test(out) === true) void steps.shift()?.take();
    };
    const { code, out } = await given({ onOutput }, 'deployment', 'status', '-monitor', id.slice(0, 8));
    expect(code).toBe(1);
    expect(out).toMatch(/is paused: Deployment is paused\ndeployment \w{8} is failed: Deployment marked as failed\n$/);
    expect(await run('deployment', 'status', '-monitor', id)).toMatchObject({ code: 1 });
    const asJson = await run('deployment', 'status', '-monitor', '-json', id);
    expect(JSON.parse(asJson.out)).toMatchObject({ ID: id, Status: 'failed' });
    expect((await run('deployment', 'status', '-monitor')).code).toBe(2);
    expect((await run('job', 'stop', '-purge', 'manual')).code).toBe(0);
  });
});

describe('eval status -monitor', () => {
  it('follows an evaluation and its deployment', async () => {
    const { value } = await orThrow(served.box.jobs.evaluations('healthy'));
    const id = value?.find(({ TriggeredBy }) => TriggeredBy === 'job-register')?.ID ?? '';
    const { code, out } = await run('eval', 'status', '-monitor', id.slice(0, 8));
    expect(code).toBe(0);
    expect(out).toMatch(/^evaluation \w{8} .*\nevaluation \w{8} is complete\ndeployment .*is successful: .+\n$/s);
    expect((await run('eval', 'status', '-monitor')).code).toBe(2);
    expect((await run('eval', 'status', '-monitor', '-json', id)).code).toBe(2);
  });
});

interface Shown {
  readonly code: number;
  /** All that the terminal was sent. */
  readonly sent: string;
}

/**
 * Runs the command line in a terminal of its own. A shell outlives it there: what a busy process has not read of a terminal shortly after
 * the end of its first process, `node-pty` drops.
 */
function inTerminal(words: readonly string[], onSent: (sent: string) => void): Promise<Shown> {
  const environment = { ...process.env, SIGNALBOX_ADDR: served.origin, TERM: 'xterm' } as Record<string, string>;
  const script = '"$@"; printf "\\001%s\\001" $?; exec sleep 1000';
  const terminal = spawn('/bin/sh', ['-c', script, 'sh', ...commandLine(words)], {
    cols: 60,
    rows: 20,
    env: environment,
  });
  let sent = '';
  return new Promise((resolve) => {
    terminal.onData((text) => {
      sent += text;
      onSent(sent);
      const [shown = '', code] = sent.split('\u0001');
      if (code === undefined || !sent.endsWith('\u0001')) return;
      resolve({ code: Number(code), sent: shown });
      terminal.kill('SIGKILL');
    });
  });
}

/** Says that both allocations of a deployment are well. */
async function makeHealthy(job: string): Promise<void> {
  const id = await deploymentOf(job);
  const { value } = await orThrow(served.box.deployments.allocations(id));
  const body = JSON.stringify({ DeploymentID: id, HealthyAllocationIDs: value.map(({ ID }) => ID) });
  await fetch(`${served.origin}/v1/deployment/allocation-health/${id}`, { method: 'PUT', body });
}

describe('in a terminal', () => {
  it('progress is drawn in place, and the last state stays', async () => {
    const file = join(temporaryFolder(), 'live.hcl');
    writeFileSync(file, jobFile('live', 'health_check = "manual"'));
    let isShown = false;
    const onSent = (sent: string): void => {
      if (isShown || !/Status += running/.test(sent)) return;
      isShown = true;
      void makeHealthy('live');
    };
    const { code, sent } = await inTerminal(['job', 'run', file], onSent);
    expect(code).toBe(0);
    // Up over what was drawn before, more than once.
    expect([...sent.matchAll(/\u001b\[\d+A\r/g)].length).toBeGreaterThan(1);
    expect(sent).toContain('is waiting for the scheduler');
    // No line of a frame is wider than the terminal; the last one stays as it is.
    const last = sent.slice(sent.lastIndexOf('\u001b[J') + 3);
    expect(last).toMatch(/^Deployment += \w{8}\r\nStatus += successful\r\n.*\nID +Group.*\n\w{8} +app /s);
    const drawn = sent.slice(0, -last.length).split(/\r\n|\r/);
    expect(Math.max(...drawn.map((line) => line.replaceAll(/\u001b\[\d*[AJK]/g, '').length))).toBeLessThanOrEqual(60);
  });
});

describe('node drain', () => {
  it('waits until the node is empty, or for somebody who ends it', async () => {
    const [node] = (await orThrow(served.box.nodes.list())).value.items;
    const id = node?.ID ?? '';
    expect((await run('node', 'drain', '-monitor', '-enable', id)).error).toMatch(
      /^signalbox: give one of --enable, --disable, --monitor\n/,
    );
    expect((await run('node', 'drain', '-disable', '-deadline', '1h', id)).error).toBe(
      'signalbox: --deadline is for --enable\n',
    );
    expect((await run('node', 'drain', '-enable', '-keep-ineligible', id)).code).toBe(2);
    const { code, out } = await run('node', 'drain', '-enable', '-force', id);
    expect(code).toBe(0);
    expect(out).toMatch(/^node \w{8}: \d+ allocations/);
    expect(out).toMatch(/ {2}allocation \w{8} of "healthy" \(app\) is complete\n/);
    expect(out).toMatch(/node \w{8}: the drain is complete\n$/);
    // There is nothing left to see.
    expect(await run('node', 'drain', '-monitor', id)).toMatchObject({ code: 0 });
    expect((await run('node', 'drain', '-disable', id)).out).toMatch(/^node \w{8} is no longer draining\n$/);
  });

  it('ends with the exit code 1 when somebody ends the drain before', async () => {
    const [node] = (await orThrow(served.box.nodes.list())).value.items;
    const id = node?.ID ?? '';
    // A batch allocation keeps a drain with a deadline waiting.
    const job = jobFile('batch', '')
      .replace('group "app" {', 'type = "batch"\n group "app" {')
      .replace(/update \{[^}]*\}/, '');
    await given({ files: { f: job } }, 'job', 'run', 'f');
    await expect
      .poll(async () => (await orThrow(served.box.jobs.summary('batch'))).value?.Summary['app']?.Running)
      .toBe(2);
    let ended = false;
    const onOutput = (out: string): void => {
      if (ended || !out.includes('of "batch" (app) is running\n')) return;
      ended = true;
      void served.box.nodes.drain(id, { markEligible: true });
    };
    const { code, out } = await given({ onOutput }, 'node', 'drain', '-enable', '-deadline', '1h', id);
    expect(code).toBe(1);
    expect(out).toMatch(/node \w{8}: the drain is ended before the node was empty\n$/);
  });
});
