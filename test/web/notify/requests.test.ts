import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { ConfigurationView } from '../../../src/operations/notifications/configurations/configuration-view.js';
import type { DeliveryDetails } from '../../../src/operations/notifications/log/delivery-log.js';
import { inputOf, valuesOf } from '../../../web/screens/notify/form-values.js';
import {
  askedOf,
  curlCommand,
  declarationOf,
  eventFilter,
  exampleOf,
  fieldOfPointer,
  filtersOf,
  fixOf,
  headersOf,
  isFiltered,
  shellQuoted,
  spanOf,
  wordsOf,
} from '../../../web/screens/notify/requests.js';

const hostile = [
  "it's",
  '$(touch hacked) `touch hacked` "$HOME" \\ !!',
  "'; touch hacked; '",
  'line\nanother\r\n; touch hacked',
  '@/etc/passwd',
  '-o /tmp/hacked',
  '',
  '# comment',
  'ünïcode ‮ 🙂',
  '~',
  '*',
];

/** The words that a shell makes of a command. */
function shellWords(command: string): string[] {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('curl', () => {
  const attempt: DeliveryDetails['attempts'][number] = {
    number: 1,
    manual: false,
    startedAt: '2026-11-30T14:00:00.000Z',
    headersAfter: 1,
    total: 2,
    destination: 'https://hooks.example.net',
    address: '203.0.113.9',
    status: 503,
    headers: {},
    body: '',
    truncated: false,
    failure: null,
    request: {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: '[redacted]', 'x-key': '[redacted]' },
      bodyBytes: 2,
    },
  };

  it('has method, URL, headers and body, and names the secret headers', () => {
    expect(curlCommand(attempt, '{"a":1}', 'https://hooks.example.net/path?x=1&y=2')).toBe(
      [
        '# Without the secret headers: authorization, x-key',
        "curl --request POST 'https://hooks.example.net/path?x=1&y=2' \\",
        "  --header 'content-type: application/json' \\",
        `  --data-raw '{"a":1}'`,
      ].join('\n'),
    );
  });

  it('goes to where the attempt went, when the configuration has another address by now', () => {
    const moved = curlCommand(attempt, null, 'https://elsewhere.example.net/path');
    expect(moved).toContain('--request POST https://hooks.example.net ');
    expect(curlCommand(attempt, null, 'no URL')).toContain('https://hooks.example.net');
    expect(curlCommand(attempt, null, null)).not.toContain('--data-raw');
  });

  it.each(hostile)('passes on %j unchanged and runs nothing', (value) => {
    const headers = { 'x-value': value };
    const sent = curlCommand(
      { ...attempt, destination: 'https://hooks.example.net', request: { method: 'POST', headers, bodyBytes: 0 } },
      value,
      null,
    );
    const words = [
      '--request',
      'POST',
      'https://hooks.example.net',
      '--header',
      `x-value: ${value}`,
      '--data-raw',
      value,
    ];
    expect(shellWords(sent)).toEqual(words);
  });

  it('a name of a secret header cannot leave the comment', () => {
    const headers = { 'x\ntouch hacked': '[redacted]', 'y\u2028z\r': '[redacted]' };
    const sent = curlCommand({ ...attempt, request: { method: 'POST', headers, bodyBytes: 0 } }, null, null);
    expect(sent.split('\n')).toHaveLength(2);
    expect(shellWords(sent)).toEqual(['--request', 'POST', 'https://hooks.example.net']);
  });

  it.each(hostile)('quotes %j as one word', (value) => {
    expect(shellWords(`curl ${shellQuoted(value)}`)).toEqual([value]);
  });
});

describe('filters in the address', () => {
  const none = { outcome: '', trigger: '', status: '', since: '', until: '', configuration: '', page: 1 };
  it.each([
    ['', none, { pageNumber: 1, pageSize: 50 }],
    [
      'outcome=dead&status=5xx&page=3',
      { ...none, outcome: 'dead', status: '5xx', page: 3 },
      { outcome: 'dead', status: '5xx', pageNumber: 3, pageSize: 50 },
    ],
    ['page=-1&since=yesterday', none, { pageNumber: 1, pageSize: 50 }],
    ['page=1.5', none, { pageNumber: 1, pageSize: 50 }],
    [
      'since=2026-11-30T13%3A50%3A00Z&trigger=run%3Aerrored&configuration=nc-1',
      { ...none, since: '2026-11-30T13:50:00Z', trigger: 'run:errored', configuration: 'nc-1' },
      {
        since: Date.parse('2026-11-30T13:50:00Z'),
        trigger: 'run:errored',
        configuration: 'nc-1',
        pageNumber: 1,
        pageSize: 50,
      },
    ],
  ])('%s', (query, filters, asked) => {
    expect(filtersOf(new URLSearchParams(query))).toEqual(filters);
    expect(askedOf(filters)).toEqual(asked);
    expect(isFiltered(filters)).toBe(JSON.stringify({ ...filters, page: 1 }) !== JSON.stringify(none));
  });

  it('a bulk keeps the end of the set that was counted', () => {
    const bulk = {
      outcome: 'dead',
      since: '2026-11-30T13:50:00Z',
      trigger: '',
      status: '',
      configuration: '',
    } as const;
    expect(spanOf(bulk, 0)).toEqual({ outcome: 'dead', since: bulk.since, until: '1970-01-01T00:00:00.000Z' });
    expect(spanOf({ ...bulk, trigger: 'a.b', status: '5xx', configuration: 'nc-1' }, 0)).toMatchObject({
      trigger: 'a.b',
      status: '5xx',
      configurationId: 'nc-1',
    });
  });

  it('a search is a filter, whatever is searched', () => {
    expect(eventFilter(' a "b" ')).toBe(
      'message contains "a \\"b\\"" or run_message contains "a \\"b\\"" or run_id contains "a \\"b\\""',
    );
  });
});

it.each([
  ['/data/attributes/name', 'name'],
  ['/data/attributes/triggers/3', 'triggers'],
  ['/data/attributes/destination-type', 'kind'],
  ['/data/relationships/users/0', 'users'],
  ['/data/attributes/delivery/rate', 'rate'],
  ['/data/attributes/delivery/clientCertificate', 'clientCertificate'],
  ['/data/attributes/namely', undefined],
  ['', undefined],
])('the fault at %j belongs to the field %s', (pointer, field) => {
  expect(fieldOfPointer(pointer)).toBe(field);
});

it('reads headers and lists as people write them', () => {
  expect(headersOf('X-A: 1\n\n  x-b:two: three  \nnot a header\n: x')).toEqual({
    headers: { 'X-A': '1', 'x-b': 'two: three' },
    wrong: ['not a header', ': x'],
  });
  expect(wordsOf(' order.*, order.created\n order.* ')).toEqual(['order.*', 'order.created']);
});

it.each([
  ['run:errored', { trigger: 'run:errored', run_id: 'run-example' }],
  ['workspace:auto_destroy_reminder', { trigger: 'workspace:auto_destroy_reminder' }],
  ['order.created', { trigger: 'order.created', data: { id: 1 } }],
])('an example of %s', (trigger, expected) => {
  expect(exampleOf(trigger, { id: 1 })).toEqual(expected);
});

const view: ConfigurationView = {
  id: 'nc-1',
  workspaceId: 'ws-1',
  kind: 'generic',
  destinationType: 'generic',
  enabled: true,
  name: 'Ops',
  url: 'https://hooks.example.net/a',
  triggers: ['run:errored'],
  users: [],
  response: null,
  delivery: {
    rate: 5,
    timeout: 1500,
    concurrency: null,
    eventTypes: ['order.*'],
    filter: null,
    rotationGrace: null,
    headerNames: ['x-key'],
    authentication: 'bearer',
    clientCertificate: false,
  },
  health: {
    paused: false,
    breaker: 'closed',
    breakerSince: null,
    nextProbeAt: null,
    failures: 0,
    failingSince: null,
    hinderedBy: null,
    hinderedSince: null,
    backlog: 0,
  },
  createdAt: '2026-11-30T14:00:00.000Z',
  updatedAt: '2026-11-30T14:00:00.000Z',
};

describe('what makes a configuration be notified', () => {
  it.each([
    [[], 'run:errored', undefined],
    [['filtered'], 'run:errored', undefined],
    [['disabled'], 'run:errored', { label: 'Verify and enable', input: { enabled: true }, isWhole: true }],
    [
      ['trigger_off'],
      'run:created',
      { label: 'Turn on run:created', input: { triggers: ['run:errored', 'run:created'] }, isWhole: true },
    ],
    [['trigger_off', 'filtered'], 'run:created', { isWhole: false }],
    [
      ['disabled', 'trigger_off'],
      'shop.opened',
      { input: { delivery: { eventTypes: ['order.*', 'shop.opened'] }, enabled: true }, isWhole: true },
    ],
  ] as const)('%j for %s', (obstacles, trigger, expected) => {
    const fix = fixOf(view, obstacles, trigger);
    if (expected === undefined) expect(fix).toBeUndefined();
    else expect(fix).toMatchObject({ id: 'nc-1', ...expected });
  });
});

it('enabling e-mail verifies nothing', () => {
  expect(fixOf({ ...view, kind: 'email' }, ['disabled'], 'run:errored')?.label).toBe('Enable');
});

it('a declaration has everything but secrets, which it names', () => {
  const declaration = declarationOf({ ...view, name: 'Ops\n// "x"' });
  const [comment = '', ...lines] = declaration.split('\n');
  expect(comment).toBe(
    '// Secrets, if set, are not shown here: token, delivery.headers["x-key"], delivery.authentication (bearer)',
  );
  const found = /^await orThrow\(box\.notifications\.declare\("ws-1", (\{.*\})\)\);\n$/s.exec(lines.join('\n'))?.[1];
  expect(JSON.parse(found ?? 'null')).toEqual({
    name: 'Ops\n// "x"',
    destinationType: 'generic',
    url: 'https://hooks.example.net/a',
    triggers: ['run:errored'],
    delivery: { rate: 5, timeout: 1500, eventTypes: ['order.*'] },
    enabled: true,
  });
});

describe('the form', () => {
  const before = valuesOf(view);

  it('sends nothing that was left as it is', () => {
    expect(inputOf(before, before)).toEqual({ input: {}, problems: {} });
  });

  it('sends all of a new configuration', () => {
    const { input } = inputOf(
      { ...valuesOf(undefined), name: 'New', url: ' https://a.example ', token: 's' },
      undefined,
    );
    expect(input).toEqual({
      destinationType: 'generic',
      name: 'New',
      enabled: true,
      url: 'https://a.example',
      token: 's',
      triggers: ['run:needs_attention', 'run:errored'],
    });
  });

  it('an e-mail configuration has recipients and no URL', () => {
    const { input } = inputOf(
      { ...valuesOf(undefined), kind: 'email', url: 'https://left.over', users: ['u-1'] },
      undefined,
    );
    expect(input).toMatchObject({ destinationType: 'email', users: ['u-1'] });
    expect(input).not.toHaveProperty('url');
  });

  it.each([
    [{ rate: '' }, { rate: null }],
    [{ rate: '0' }, { rate: 0 }],
    [{ timeout: '2.5' }, { timeout: 2500 }],
    [{ rotationGrace: '24' }, { rotationGrace: 86_400_000 }],
    [{ eventTypes: '' }, { eventTypes: [] }],
    [{ filter: 'data.id == 1' }, { filter: 'data.id == 1' }],
    [{ headers: 'x-a: 1' }, { headers: { 'x-a': '1' } }],
    [{ removesHeaders: true }, { headers: null }],
    [{ authentication: 'none' }, { authentication: null }],
    [
      { authentication: 'basic', username: 'u', password: 'p' },
      { authentication: { type: 'basic', username: 'u', password: 'p' } },
    ],
    [{ authentication: 'bearer', bearer: 't' }, { authentication: { type: 'bearer', token: 't' } }],
    [{ certificate: 'C', key: 'K' }, { clientCertificate: { certificate: 'C', key: 'K' } }],
    [{ removesCertificate: true }, { clientCertificate: null }],
  ] as const)('%j changes only that', (changes, delivery) => {
    expect(inputOf({ ...before, ...changes }, before)).toEqual({ input: { delivery }, problems: {} });
  });

  it.each([
    [{ rate: 'many' }, 'rate'],
    [{ headers: 'no colon' }, 'headers'],
    [{ certificate: 'C' }, 'clientCertificate'],
  ])('%j is a problem at its field', (changes, field) => {
    expect(Object.keys(inputOf({ ...before, ...changes }, before).problems)).toEqual([field]);
  });

  it('removing the token wins over a new one', () => {
    expect(inputOf({ ...before, token: 'x', removesToken: true }, before).input).toEqual({ token: null });
  });
});
