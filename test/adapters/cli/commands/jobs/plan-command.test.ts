import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { servedCommands } from '../../served-commands.js';

const commands = servedCommands();

const job = `
variable "greeting" {
  default = "the default"
}
job "hinted" {
  type = "batch"
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/echo"
        args    = [var.greeting]
      }
      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}`;
const oldJob = job.replace(/variable[^}]*}/, '').replace('var.greeting', '"hello"');
const files = { 'job.hcl': job, 'my job.hcl': job, '-': job, 'old.nomad': oldJob, 'v.hcl': 'greeting = "file"' };

/** The words of the command that a plan prints, as a shell reads them. */
async function hintOf(...words: readonly string[]): Promise<string[]> {
  const { out, error } = await commands.given({ files }, 'job', 'plan', ...words);
  const line = /^to apply this plan: ([\s\S]*?)\n*$(?![\s\S])/m.exec(out)?.[1];
  if (line === undefined) throw new Error(error);
  return execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

describe('the command that a plan prints', () => {
  it.each([
    [['job.hcl'], ['job.hcl']],
    [['-'], ['-']],
    [['my job.hcl'], ['my job.hcl']],
    [
      ['--var', 'greeting=hello world', 'job.hcl'],
      ['-var', 'greeting=hello world', 'job.hcl'],
    ],
    [
      ['-var=greeting=$HOME\n"it\'s"', 'job.hcl'],
      ['-var', 'greeting=$HOME\n"it\'s"', 'job.hcl'],
    ],
    [
      ['-var', 'greeting=a', '-var', 'greeting=b', '-var-file', 'v.hcl', 'job.hcl'],
      ['-var-file', 'v.hcl', '-var', 'greeting=a', '-var', 'greeting=b', 'job.hcl'],
    ],
    [
      ['-namespace', 'default', 'job.hcl'],
      ['-namespace', 'default', 'job.hcl'],
    ],
    [
      ['-hcl1', 'old.nomad'],
      ['-hcl1', 'old.nomad'],
    ],
    [
      ['-no-diff', '-policy-override', '-preserve-counts', '-preserve-resources', 'job.hcl'],
      ['-policy-override', '-preserve-counts', '-preserve-resources', 'job.hcl'],
    ],
  ])('after %j registers the same', async (words, repeated) => {
    expect(await hintOf(...words)).toEqual(['signalbox', 'job', 'run', '-check-index', '0', ...repeated]);
  });

  it('repeats the server that was named, without a password', async () => {
    const { host } = new URL(commands.origin);
    expect(await hintOf('-address', `http://me:secret@${host}`, 'job.hcl')).toEqual(
      expect.arrayContaining(['-address', `http://${host}/`]),
    );
  });

  it('repeats the namespace of the environment', async () => {
    const environment = { SIGNALBOX_NAMESPACE: 'default' };
    const { out } = await commands.given({ files, environment }, 'job', 'plan', 'job.hcl');
    expect(out).toContain('-check-index 0 -namespace default job.hcl\n');
  });

  it('can be run as it is printed', async () => {
    const [, ...words] = await hintOf('-var', "greeting=it's", 'job.hcl');
    expect((await commands.given({ files }, ...words)).code).toBe(0);
    expect((await commands.given({ files }, 'job', 'plan', '-var', "greeting=it's", 'job.hcl')).code).toBe(0);
    expect((await commands.given({ files }, 'job', 'plan', 'job.hcl')).code).toBe(1);
  });
});

describe('a plan with -preserve-counts', () => {
  const counted = (count: number) =>
    job.replaceAll('hinted', 'counted').replace('group "g" {', `group "g" {\n count = ${count}`);

  it('is made with the counts that a registration would keep', async () => {
    const plan = (...words: readonly string[]) =>
      commands.given({ files: { 'job.hcl': counted(1) } }, 'job', 'plan', ...words, 'job.hcl');
    await commands.given({ files: { 'job.hcl': counted(2) } }, 'job', 'run', 'job.hcl');
    const changed = await plan();
    expect(changed).toMatchObject({ code: 1, out: expect.stringMatching(/Count: "2" => "1"/) });
    const kept = await plan('-preserve-counts');
    expect(kept).toMatchObject({ code: 0, out: expect.stringContaining('no changes') });
  });
});
