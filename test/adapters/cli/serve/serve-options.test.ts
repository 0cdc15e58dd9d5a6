import { describe, expect, it } from 'vitest';
import { connectionLimitsFrom, parseServeOptions } from '../../../../adapters/cli/serve/serve-options.js';

/** Of ended allocations: how many, and those of failed runs for how long and over how many later runs. */
const kept = { keepFinished: 50, keepFailedFor: 86_400_000, keepFailedRuns: 200 };

describe('parseServeOptions', () => {
  it('has defaults that are closed and local', () => {
    expect(parseServeOptions([])._unsafeUnwrap()).toEqual({
      node: { nodePool: 'default', datacenter: 'dc1', volumes: {}, reserved: { cpu: 0, memory: 0, disk: 0 }, ...kept },
      host: '127.0.0.1',
      port: 4646,
      store: { place: { type: 'memory' }, busyMs: 10_000, listenUrl: null },
      directory: null,
      compat: [],
      names: 'neutral',
      access: 'token',
      seedFile: null,
      encryptionKeyFile: null,
      examples: false,
      outbound: { cidrs: [], hosts: [], httpsOnly: false, forbiddenPorts: [], caFile: null, proxy: null },
      mail: null,
      engine: {},
      allowHosts: [],
      maximumConnections: null,
      maximumConnectionsPerAddress: null,
      maximumWaitingReads: 16_384,
      stallTimeout: 30_000,
      notificationsBase: '',
      runner: true,
      page: true,
      publicOrigin: null,
    });
  });

  it('reads every option', () => {
    const args =
      '--listen 0.0.0.0:0 --store sqlite:/tmp/a:b.db --names upstream --access token --seed s.json --encryption-key-file keys --examples ' +
      '--allow-outbound 10.0.0.0/8,127.0.0.1/32 --allow-outbound fd00::/8 --notifications-base /x/y/ --no-runner --no-page ' +
      '--volume media=/srv/media,data=/srv/data:ro ' +
      '--public-origin https://jobs.example.org/ignored --allow-host a.example,10.0.0.1 --allow-host fd00::1 ' +
      '--set maximumConnections=500 --set maximumConnectionsPerAddress=50 --set maximumWaitingReads=800 --set stallTimeout=5s --set storeTimeout=3s';
    expect(parseServeOptions(args.split(' '))._unsafeUnwrap()).toEqual({
      node: {
        nodePool: 'default',
        datacenter: 'dc1',
        volumes: { media: { path: '/srv/media' }, data: { path: '/srv/data', readOnly: true } },
        reserved: { cpu: 0, memory: 0, disk: 0 },
        ...kept,
      },
      host: '0.0.0.0',
      port: 0,
      store: { place: { type: 'sqlite', path: '/tmp/a:b.db' }, busyMs: 3000, listenUrl: null },
      directory: '/tmp/a:b.db-allocations',
      compat: ['nomad', 'terraform'],
      names: 'upstream',
      access: 'token',
      seedFile: 's.json',
      encryptionKeyFile: 'keys',
      examples: true,
      outbound: {
        cidrs: ['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8'],
        hosts: [],
        httpsOnly: false,
        forbiddenPorts: [],
        caFile: null,
        proxy: null,
      },
      mail: null,
      engine: {
        notifications: {
          signature: {
            headers: ['x-tfe-notification-signature'],
            idHeader: 'x-tfe-notification-id',
            timestampHeader: 'x-tfe-notification-timestamp',
          },
        },
      },
      allowHosts: ['a.example', '10.0.0.1', 'fd00::1'],
      maximumConnections: 500,
      maximumConnectionsPerAddress: 50,
      maximumWaitingReads: 800,
      stallTimeout: 5000,
      notificationsBase: '/x/y',
      runner: false,
      page: false,
      publicOrigin: 'https://jobs.example.org',
    });
  });

  it('reads what the page shows, and who may show it', () => {
    const args = '--page-title Box --page-link Wiki=https://wiki.example.org/a?b=c,Home=/ --page-link Status=/s';
    const ancestors = ['--page-frame-ancestor', 'self,https://portal.example.org'];
    expect(parseServeOptions([...args.split(' '), ...ancestors])._unsafeUnwrap().page).toEqual({
      title: 'Box',
      links: [
        { label: 'Wiki', href: 'https://wiki.example.org/a?b=c' },
        { label: 'Home', href: '/' },
        { label: 'Status', href: '/s' },
      ],
      frameAncestors: ['self', 'https://portal.example.org'],
    });
    expect(parseServeOptions(['--page-frame-ancestor', 'self'])._unsafeUnwrap().page).toEqual({
      links: [],
      frameAncestors: ['self'],
    });
  });

  it('takes the notification base from the names', () => {
    expect(parseServeOptions(['--names', 'upstream'])._unsafeUnwrap().notificationsBase).toBe('/api/v2');
    expect(parseServeOptions(['--names=upstream', '--notifications-base=/'])._unsafeUnwrap().notificationsBase).toBe(
      '',
    );
  });

  it.each([
    ['nomad', { compat: ['nomad'], names: 'neutral', notificationsBase: '', engine: {} }],
    ['terraform', { compat: ['terraform'], names: 'upstream', notificationsBase: '/api/v2' }],
    ['terraform,nomad', { compat: ['nomad', 'terraform'], names: 'upstream', notificationsBase: '/api/v2' }],
  ])('serves the clients of %s', (compat, expected) => {
    expect(parseServeOptions(['--compat', compat])._unsafeUnwrap()).toMatchObject(expected);
  });

  it.each([
    ['127.0.0.1:0', true],
    ['127.8.9.10:1', true],
    ['[::1]:1', true],
    ['localhost:1', true],
    ['0.0.0.0:1', false],
    ['[::]:1', false],
    ['127.0.0.1.example.org:1', false],
    ['10.0.0.1:1', false],
    ['example.org:1', false],
  ])('allows open access on %s: %s', (listen, allowed) => {
    expect(parseServeOptions(['--access', 'open', '--listen', listen]).isOk()).toBe(allowed);
  });

  it.each([
    [['--listen', 'nowhere'], /--listen takes HOST:PORT/],
    [['--listen', 'h:70000'], /--listen takes HOST:PORT/],
    [['--listen', '::1:80'], /--listen takes HOST:PORT/],
    [['--store', 'redis'], /--store takes/],
    [['--store', 'sqlite:'], /--store takes/],
    [['--names', 'mine'], /--names takes/],
    [['--compat', 'consul'], /--compat takes nomad or terraform/],
    [['--compat', 'nomad', '--names', 'upstream'], /--names has no effect beside --compat/],
    [['--access', 'none'], /--access takes/],
    [['--notifications-base', 'api'], /--notifications-base takes/],
    [['--notifications-base', '/a b'], /--notifications-base takes/],
    [['--public-origin', 'ftp://x'], /--public-origin takes/],
    [['--bogus'], /--bogus/],
    [['--constructor'], /unknown option --constructor/],
    [['--acess', 'open'], /did you mean access/],
    [['--standard-webhooks'], /--set notifications.signature.standardWebhooks=VALUE/],
    [['--set', 'x'], /--set takes KEY=VALUE/],
    [['--set', 'jobs.regoin=x'], /unknown setting "jobs.regoin"; did you mean jobs.region\?/],
    [['--set', 'smtpUrl=smtp://a:b@c'], /SIGNALBOX_SMTP_URL or in the file/],
    [['--set', 'proxyExcept=a.example'], /--set proxyExcept has no effect without proxy/],
    [
      ['--set', 'notifications.delivery.connectTimeout=1h'],
      /must not be more than notifications.delivery.totalTimeout/,
    ],
    [['--page-title', ''], /--page-title takes 1 to 100 characters/],
    [['--page-title', 'a\u0000b'], /--page-title takes 1 to 100 characters without control characters/],
    [['--page-link', 'Wiki'], /--page-link takes LABEL=ADDRESS/],
    [['--page-link', '=https://wiki.example.org'], /--page-link takes LABEL=ADDRESS/],
    [['--page-link', 'Wiki=javascript:alert(1)'], /--page-link takes LABEL=ADDRESS/],
    [['--page-link', 'Wiki=//evil.example'], /--page-link takes LABEL=ADDRESS/],
    [['--page-link', Array.from({ length: 21 }, () => 'a=/b').join(',')], /--page-link .*at most 20/],
    [['--page-frame-ancestor', '*'], /--page-frame-ancestor takes 'self' or an http\(s\) origin/],
    [['--page-frame-ancestor', 'https://a.example; script-src *'], /--page-frame-ancestor takes 'self'/],
    [['--page-frame-ancestor', 'https://a.example/path'], /--page-frame-ancestor takes 'self'/],
    [['--page-frame-ancestor', Array.from({ length: 21 }, () => 'self').join(',')], /at most 20/],
    [['--no-page', '--page-title', 'Box'], /--page-title has no effect without page/],
    [['--no-page', '--page-frame-ancestor', 'self'], /--page-frame-ancestor has no effect without page/],
    [['positional'], /positional/],
    [['--listen'], /--listen/],
  ])('refuses %j', (args, message) => {
    expect(parseServeOptions(args)._unsafeUnwrapErr()).toMatch(message);
  });
});

const at = (
  host: string,
  maximumConnections: number | null = null,
  maximumConnectionsPerAddress: number | null = null,
) => ({
  host,
  maximumConnections,
  maximumConnectionsPerAddress,
});

it.each([
  ['half of the descriptors', at('0.0.0.0'), 1024, 512, 256],
  ['at most 10,000', at('0.0.0.0'), 1_000_000, 10_000, 5000],
  ['all of them for one address on loopback, where a proxy may be in front', at('127.0.0.1'), 1024, 512, 512],
  ['what is set', at('0.0.0.0', 700, 10), 1024, 700, 10],
  ['no more of one address than of all', at('0.0.0.0', 700, 900), 1024, 700, 700],
])('connections are limited to %s', (_what, options, descriptors, maximumConnections, maximumConnectionsPerAddress) => {
  expect(connectionLimitsFrom(options, descriptors)).toEqual({ maximumConnections, maximumConnectionsPerAddress });
});

it('a limit that leaves nothing for tasks and the store stops the start', () => {
  expect(() => connectionLimitsFrom(at('0.0.0.0', 769), 1024)).toThrow(/maximumConnections is 769, .* at most 768/);
});
