import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Policy, parsePolicy } from '../../../src/access/policy/parse-policy.js';

const read = [
  'list-jobs',
  'parse-job',
  'read-job',
  'csi-list-volume',
  'csi-read-volume',
  'read-job-scaling',
  'list-scaling-policies',
  'read-scaling-policy',
  'host-volume-read',
];
const write = [
  ...read,
  'scale-job',
  'submit-job',
  'dispatch-job',
  'read-logs',
  'read-fs',
  'alloc-exec',
  'alloc-lifecycle',
  'csi-mount-volume',
  'csi-write-volume',
  'submit-recommendation',
  'host-volume-create',
  'host-volume-read',
];
const scale = [
  'list-scaling-policies',
  'read-scaling-policy',
  'read-job-scaling',
  'scale-job',
  'read-job',
  'submit-recommendation',
];

const parsed = (text: string): Policy => parsePolicy(text)._unsafeUnwrap();
const fault = (text: string) => parsePolicy(text)._unsafeUnwrapErr();

describe('what words and capabilities stand for', () => {
  it.each<[string, string, readonly string[] | null]>([
    ['policy = "deny"', 'deny', ['deny']],
    ['policy = "read"', 'read', read],
    ['policy = "write"', 'write', write],
    ['policy = "scale"', 'scale', scale],
    ['policy = "read" capabilities = ["submit-job"]', 'read', ['submit-job', ...read]],
    ['policy = "read" capabilities = ["read-job", "list-jobs"]', 'read', ['read-job', 'list-jobs', ...read]],
    ['policy = "write" capabilities = ["deny"]', 'write', ['deny', ...write]],
    [
      'capabilities = ["host-volume-write"]',
      '',
      ['host-volume-write', 'host-volume-register', 'host-volume-create', 'host-volume-delete', 'host-volume-read'],
    ],
    ['capabilities = ["host-volume-register"]', '', ['host-volume-register', 'host-volume-create', 'host-volume-read']],
    ['capabilities = ["submit-job","submit-job"]', '', ['submit-job', 'submit-job']],
    ['capabilities = "submit-job"', '', ['submit-job']],
    ['capabilities = ["sentinel-override"]', '', ['sentinel-override']],
    ['capabilities = []', '', []],
    ['colour = "red"', '', null],
    ['', '', null],
  ])('%s', (body, Policy, Capabilities) => {
    expect(parsed(`namespace "default" { ${body} }`).Namespaces).toEqual([
      { Name: 'default', Policy, Capabilities, Variables: null },
    ]);
  });

  it('reads everything that rules can say', () => {
    const text = `
      # of everything
      namespace "a*" { variables { path "nomad/jobs/*" { capabilities = ["read"] } path "x" { capabilities = ["write", "deny"] } } }
      node_pool "gpu_*" { policy = "write" } /* and */ host_volume "db" { policy = "read" } // more
      agent { policy = "write" } node { policy = "scale" }
      operator { policy = "read" } quota { policy = "read" }, plugin { policy = "list" } sentinel { policy = "write" }`;
    expect(parsed(text)).toEqual({
      Namespaces: [
        {
          Name: 'a*',
          Policy: '',
          Capabilities: null,
          Variables: {
            Paths: [
              { PathSpec: 'nomad/jobs/*', Capabilities: ['read', 'list'] },
              { PathSpec: 'x', Capabilities: ['deny'] },
            ],
          },
        },
      ],
      NodePools: [{ Name: 'gpu_*', Policy: 'write', Capabilities: ['delete', 'read', 'write'] }],
      HostVolumes: [{ Name: 'db', Policy: 'read', Capabilities: ['mount-readonly'] }],
      Agent: { Policy: 'write' },
      Node: { Policy: 'scale' },
      Operator: { Policy: 'read', Capabilities: ['license-read', 'keyring-read'] },
      Quota: { Policy: 'read' },
      Plugin: { Policy: 'list' },
      Sentinel: { Policy: 'write' },
      Raw: text,
      ExtraKeysHCL: null,
    });
  });

  it('has nothing in an empty text', () => {
    expect(parsed('')).toMatchObject({ Namespaces: null, Agent: null, Raw: '' });
  });
});

describe('the two forms', () => {
  const hcl =
    'namespace "a" { policy = "read" }\nnamespace "b" { capabilities = ["submit-job"] }\nnode { policy = "read" }';
  it.each([
    '{"namespace":{"a":{"policy":"read"},"b":{"capabilities":["submit-job"]}},"node":{"policy":"read"}}',
    '{"namespace":[{"a":{"policy":"read"}},{"b":{"capabilities":["submit-job"]}}],"node":[{"policy":"read"}]}',
    ' {"namespace":{"a":[{"policy":"read"}]},"namespace":{"b":{"capabilities":["submit-job"],"policy":null}},"node":{"policy":"read"}} ',
    'namespace = { a = { policy = "read" } b = { capabilities = ["submit-job"] } } node = { policy = "read" }',
    'namespace "a" {\n policy = <<EOT\nread\nEOT\n }',
  ])('%s', (text) => {
    const policy = parsePolicy(text);
    if (text.includes('EOT')) expect(policy._unsafeUnwrapErr().message).toContain('"read\n" is not a policy');
    else expect({ ...policy._unsafeUnwrap(), Raw: '' }).toEqual({ ...parsed(hcl), Raw: '' });
  });

  it('reads the same name twice', () => {
    expect(
      parsed('namespace "a" { policy = "read" } namespace "a" { policy = "deny" }').Namespaces?.map(
        ({ Policy }) => Policy,
      ),
    ).toEqual(['read', 'deny']);
  });

  it('reads escapes', () => {
    expect(parsed('namespace "\\u0061\\x62" { policy = "re\\u0061d" }').Namespaces).toMatchObject([{ Name: 'ab' }]);
  });
});

describe('refusals', () => {
  it.each<[string, string, number, number]>([
    ['namespace', 'needs a block in braces', 1, 10],
    ['namespace "default" { policy = "everything" }', '"everything" is not a policy: namespace takes', 1, 1],
    ['namespace "default" { policy = "list" }', '"list" is not a policy: namespace takes', 1, 1],
    ['\nnode {}\n  namespace "default" { capabilities = ["fly"] }', 'the block node needs a policy', 2, 1],
    ['\n  namespace "default" { capabilities = ["fly"] }', 'no namespace capability "fly"', 2, 3],
    ['namespace { policy = "read" }', 'has no name', 1, 1],
    ['namespace "a b" { policy = "read" }', '"a b" is not a name of a namespace', 1, 1],
    ['namespace "a" "b" { policy = "read" }', 'has one label', 1, 1],
    ['namespace "a" { policy = ["read"] }', '"policy" must be a string', 1, 17],
    ['namespace "a" { policy = "read" policy = "deny" }', 'given twice', 1, 33],
    ['namespace "a" { capabilities = ["read-job", {}] }', '"capabilities" must be a list of strings', 1, 17],
    ['namespace "a" = "b"', 'namespace must be a block', 1, 1],
    ['planet "earth" { policy = "read" }', 'no block "planet"', 1, 1],
    ['node { policy = "read" } planet "earth" {}', 'no block "planet"', 1, 26],
    ['node { policy = "read" } node { policy = "deny" }', 'given twice', 1, 26],
    ['node "x" { policy = "read" }', 'has no label', 1, 1],
    ['agent { policy = "list" }', '"list" is not a policy: agent takes', 1, 1],
    ['operator { policy = "none" }', '"none" is not a policy: operator takes read, write, scale, deny', 1, 1],
    ['operator { policy = "read" capabilities = ["rule"] }', 'no operator capability "rule"', 1, 1],
    ['plugin { policy = "write" }', '"write" is not a policy: plugin takes', 1, 1],
    ['node_pool "a b" { policy = "read" }', '"a b" is not a name of a node pool', 1, 1],
    ['host_volume "a_b" { policy = "read" }', 'is not a name of a host volume', 1, 1],
    ['host_volume "a" { capabilities = ["read"] }', 'no host volume capability "read"', 1, 1],
    ['namespace "a" { variables {} }', 'needs a block path', 1, 17],
    ['namespace "a" { variables { path "" {} } }', 'has no path', 1, 29],
    ['namespace "a" { variables { path "p" { capabilities = ["submit"] } } }', 'no variable capability', 1, 29],
    ['# nothing', 'the rules say nothing', 1, 1],
    ['{}', 'the rules say nothing', 1, 1],
    ['namespace "a" { policy = "read"', 'a closing brace is missing', 1, 32],
    ['namespace "a" { policy = "read }', 'not closed on its line', 1, 26],
    ['namespace "a\\q" {}', 'backslash', 1, 13],
    ['namespace "a" { policy = }', 'is expected here', 1, 26],
    ['namespace "a" { capabilities = ["a" "b"] }', 'comma or a closing bracket', 1, 37],
    ['namespace "a" { policy = <<EOT\nread', 'the heredoc EOT is not closed', 1, 26],
    ['/* open', 'a comment is not closed', 1, 1],
    ['{"namespace":{"a":{"policy":"read"}}} x', 'nothing can follow', 1, 39],
    ['{"namespace" {}}', 'needs a colon', 1, 14],
    ['{namespace: {}}', 'a name is expected here', 1, 2],
    ['\u0000', 'a name is expected here', 1, 1],
  ])('%j', (text, message, line, column) => {
    const refused = fault(text);
    expect(refused.message).toContain(message);
    expect(refused).toMatchObject({ line, column });
  });
});

describe('hostile texts', () => {
  const hostile: readonly [string, string][] = [
    ['a long text', `namespace "${'a'.repeat(1024 * 1024)}" {}`],
    ['an open brace again and again', 'a {'.repeat(80_000)],
    ['open brackets', `a = ${'['.repeat(200_000)}`],
    ['JSON braces', '{"a":'.repeat(50_000)],
    ['many labels', `namespace ${'"a" '.repeat(60_000)}`],
    ['many blocks', 'node {} '.repeat(30_000)],
    ['comments', '#\n/**/'.repeat(43_000)],
    ['open comments', '/*'.repeat(130_000)],
    ['heredocs', '<<A\n'.repeat(60_000)],
    ['a heredoc that never ends', `a = <<A\n${'B\n'.repeat(130_000)}`],
    ['escapes', `namespace "${'\\n'.repeat(130_000)}" {}`],
    ['blanks', ' \n\t'.repeat(87_000)],
    ['commas', 'node { policy = "read" }'.padEnd(260_000, ',')],
    ['prototype names', '__proto__ { policy = "read" } constructor "x" {}'],
    ['half a character', 'namespace "\ud800" { policy = "read" }'],
  ];
  it.each(hostile)('%s is refused within a moment', (_what, text) => {
    const before = process.cpuUsage();
    expect(parsePolicy(text).isErr()).toBe(true);
    const spent = process.cpuUsage(before);
    expect((spent.user + spent.system) / 1000).toBeLessThan(1000);
  });

  it('gives an answer for every text', () => {
    const piece = fc.constantFrom(
      'namespace',
      ' "a*" ',
      '{',
      '}',
      '[',
      ']',
      '=',
      ':',
      ',',
      '"',
      '\\',
      'policy',
      '"read"',
      '#',
      '\n',
      '<<E',
      '/*',
      '*/',
      '1',
      'null',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const answer = parsePolicy(pieces.join(''));
        if (answer.isErr()) expect(answer.error.line).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});
