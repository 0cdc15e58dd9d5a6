import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../adapters/cli/run-command.js';
import { serve } from '../../../../adapters/cli/serve/serve.js';
import type { Terminal } from '../../../../adapters/cli/terminal.js';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-config-'));
  file = join(folder, 'box.json');
  await writeFile(
    file,
    JSON.stringify({
      access: 'open',
      listen: '127.0.0.1:0',
      runner: false,
      store: 'sqlite:kept.sqlite',
      seed: 'seed.json',
      proxy: 'http://user:proxy-password@proxy.corp.example:3128',
      notifications: { signature: { standardWebhooks: true }, maximumPerWorkspace: 1 },
    }),
  );
  await writeFile(
    join(folder, 'seed.json'),
    JSON.stringify({ workspaces: [{ id: 'ws-1', name: 'n', organization: 'o' }] }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const silent: Terminal = {
  out: () => undefined,
  error: () => undefined,
  read: () => Promise.reject(new Error('nothing is read')),
  colours: false,
  environment: {},
};

async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  let out = '';
  let error = '';
  const code = await runCommand(args, {
    ...silent,
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    environment,
  });
  return { code, out, error };
}

describe('signalbox config', () => {
  it('prints what is in force and where it is from, without secrets', async () => {
    const environment = {
      SIGNALBOX_CONFIG: file,
      SIGNALBOX_JOBS_REGION: 'north',
      SIGNALBOX_SMTP_URL: 'smtp://me:mail-password@mail.example',
      SIGNALBOX_MAIL_FROM: 'a@example.net',
      SIGNALBOX_SEEED: 'x',
    };
    const { code, out, error } = await run(['config', '--names', 'upstream', '--listen=127.0.0.1:9'], environment);
    expect(code).toBe(0);
    expect(out).toMatch(/^listen +--listen +127\.0\.0\.1:9$/m);
    expect(out).toMatch(/^jobs\.region +SIGNALBOX_JOBS_REGION +north$/m);
    expect(out).toMatch(/^notifications\.signature\.standardWebhooks +\/.*box\.json +true$/m);
    expect(out).toMatch(/^notifications\.signature\.idHeader +default +x-tfe-notification-id$/m);
    expect(out).toMatch(/^notificationsBase +default +\/api\/v2$/m);
    expect(out).toMatch(/^notifications\.delivery\.retry\.chat +default +\["5s","30s","2m","10m","1h"\]$/m);
    expect(out).toMatch(/^smtpUrl +SIGNALBOX_SMTP_URL +\[hidden\]$/m);
    expect(out).not.toContain('password');
    expect(error).toBe('signalbox: SIGNALBOX_SEEED is not a setting; did you mean SIGNALBOX_SEED?\n');
  });

  it('prints it as JSON, and the schema of the file', async () => {
    const { out } = await run(['config', '--json', '--config', file]);
    expect(JSON.parse(out)).toMatchObject({
      runner: { value: false, source: file },
      'notifications.delivery.maximumAge': { value: '1d', source: 'default' },
      proxy: { value: '[hidden]', source: file },
      caFile: { value: null, source: 'default' },
    });
    expect(JSON.parse((await run(['config', '--schema'])).out)).toMatchObject({ properties: { listen: {} } });
  });

  it('takes options with one dash as well', async () => {
    const args = ['-config', file, '-listen=127.0.0.1:9', '-set', 'jobs.region=west', '-no-runner', '-json'];
    const { code, out } = await run(['config', ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      listen: { value: '127.0.0.1:9' },
      'jobs.region': { value: 'west' },
      runner: { value: false, source: '--no-runner' },
    });
  });

  it.each([
    [['-bogus'], /unknown option --bogus/],
    [['--config', '/nowhere/box.json'], /the settings file cannot be read: ENOENT/],
    [['--bogus'], /unknown option --bogus/],
    [['--access', 'open', '--listen', '0.0.0.0:1'], /--access open is allowed only when --listen is a loopback/],
  ])('refuses %j', async (args, message) => {
    const { code, error, out } = await run(['config', ...args]);
    expect([code, out]).toEqual([2, '']);
    expect(error).toMatch(message);
  });

  it('serves with the file, and says where a fault in it is', async () => {
    const { origin, stop } = await serve(['--config', file], silent);
    const create = (name: string) =>
      fetch(`${origin}/workspaces/ws-1/notification-configurations`, {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.api+json' },
        body: JSON.stringify({
          data: {
            type: 'notification-configuration',
            attributes: { name, 'destination-type': 'generic', url: 'https://a.example', enabled: false, triggers: [] },
          },
        }),
      });
    expect((await create('one')).status).toBe(201);
    const refused = await create('two');
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('limit')]);
    await stop();

    const broken = join(folder, 'broken.json');
    await writeFile(broken, '{\n  "listen": ,\n}');
    expect((await run(['serve', '--config', broken])).error).toContain(`${broken}:2:13: expected a value`);
  });

  it('finds the file in the working folder', async () => {
    const own = await mkdtemp(join(folder, 'own-'));
    await writeFile(join(own, 'signalbox.json'), JSON.stringify({ listen: '127.0.0.1:4999' }));
    const before = process.cwd();
    try {
      process.chdir(own);
      expect((await run(['config'])).out).toMatch(/^listen +\/.*signalbox\.json +127\.0\.0\.1:4999$/m);
    } finally {
      process.chdir(before);
    }
  });

  it('applies policies, tokens that name them, and configurations of the seed', async () => {
    const { createServer } = await import('node:http');
    const receiver = createServer((_request, response) => response.writeHead(204).end());
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(receiver.address() as { port: number }).port}`;
    const seed = join(folder, 'whole.json');
    const configuration = { workspace: 'w', name: 'team', url, triggers: ['run:errored'] };
    const content = {
      workspaces: [{ id: 'w', name: 'w', organization: 'o' }],
      policies: [{ name: 'reader', rules: 'namespace "default" { policy = "read" }' }],
      tokens: [{ secret: 'a-secret-of-the-seed', policies: ['reader'], workspaces: { w: 'admin' } }],
      configurations: [configuration, { ...configuration, name: 'gone', url: 'http://127.0.0.1:1' }],
    };
    await writeFile(seed, JSON.stringify(content));
    const store = `sqlite:${join(folder, 'whole.sqlite')}`;
    const args = ['--listen', '127.0.0.1:0', '--no-runner', '--allow-outbound', '127.0.0.1/32', '--seed', seed];
    let warned = '';
    const terminal = {
      ...silent,
      error: (text: string) => {
        warned += text;
      },
    };
    for (let start = 0; start < 2; start++) {
      const { origin, stop } = await serve([...args, '--store', store], terminal);
      const headers = { 'x-svc-token': 'a-secret-of-the-seed' };
      expect((await fetch(`${origin}/v1/jobs`, { headers })).status).toBe(200);
      const list = await fetch(`${origin}/workspaces/w/notification-configurations`, { headers });
      const { data } = (await list.json()) as { data: { attributes: Record<string, unknown> }[] };
      expect(data.map(({ attributes }) => [attributes['name'], attributes['enabled']])).toEqual([['team', true]]);
      await stop();
    }
    const { origin, stop } = await serve(args, { ...terminal, out: terminal.error });
    const management = /shown this once: (\S+)/.exec(warned)?.[1] ?? '';
    const at = ['--address', origin];
    const environment = { SIGNALBOX_TOKEN: management };
    const made = await run(['token', 'create', 'sender', '--json', '--workspace', 'w=events', ...at], environment);
    const token = JSON.parse(made.out) as { SecretID: string };
    expect(token).toMatchObject({ Type: 'client', Workspaces: { w: 'events' } });
    const wrong = await run(['token', 'create', 'x', '--workspace', 'w=all', ...at], environment);
    expect(wrong.error).toContain('rights on workspaces are admin or events');
    const own = { SIGNALBOX_TOKEN: token.SecretID };
    expect((await run(['event', 'send', 'w', 'run:errored', '--set', 'run_id=r', ...at], own)).code).toBe(0);
    expect((await run(['event', 'list', 'w', ...at], own)).code).toBe(1);
    await stop();
    expect(warned).toContain('its destination could not be verified');
    await writeFile(
      seed,
      JSON.stringify({ ...content, configurations: [{ ...configuration, triggers: ['no:such'] }] }),
    );
    await expect(serve([...args, '--store', store], silent)).rejects.toThrow(/at \/configurations\/0\/triggers/);
    receiver.close();
    receiver.closeAllConnections();
  });
});
