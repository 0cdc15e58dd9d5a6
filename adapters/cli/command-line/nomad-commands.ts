/*
 * Commands and options of Nomad's command line: those with an equivalent here, and those without one, with advice on what
 * to use instead.
 */

/** Nomad's commands and the equivalent commands here. */
const equivalents: Readonly<Record<string, string>> = {
  run: 'job run',
  plan: 'job plan',
  stop: 'job stop',
  validate: 'job validate',
  inspect: 'job inspect',
  action: 'job action',
  logs: 'alloc logs',
  exec: 'alloc exec',
  fs: 'alloc fs',
  init: 'job init',
  start: 'job start',
  'acl bootstrap': 'operator api -X PUT /v1/acl/bootstrap',
  'acl token self': 'token show',
  'acl token info': 'token show',
  'acl token': 'token',
  'acl policy info': 'policy show',
  'acl policy apply': 'policy put',
  'acl policy': 'policy',
  'acl role info': 'role show',
  'acl role create': 'role put',
  'acl role': 'role',
  'agent-info': 'operator api /v1/agent/self',
  'deployment list': 'deployment status',
  'namespace inspect': 'namespace status -json',
  'operator scheduler get-config': 'operator scheduler get',
  'operator scheduler set-config': 'operator scheduler set',
  'system reconcile summaries': 'operator api -X PUT /v1/system/reconcile/summaries',
};

const longest = Math.max(...Object.keys(equivalents).map((words) => words.split(' ').length));

/** Replaces Nomad's command words with those of this command line. */
export function translateNomadCommand(args: readonly string[]): readonly string[] {
  for (let count = Math.min(longest, args.length); count > 0; count -= 1) {
    const words = args.slice(0, count).join(' ');
    const own = Object.hasOwn(equivalents, words) ? equivalents[words] : undefined;
    if (own !== undefined) return [...own.split(' '), ...args.slice(count)];
  }
  return args;
}

const noVolumes = 'jobs mount folders of hosts: signalbox serve --volume, signalbox agent --volume';
const quotas = 'quotas are in the seed file of the server, or in jobs.quotas of createEngine';
const noRaft = 'servers share one store without a leader, so there are no peers to manage';
const keys = 'keys are in the file of signalbox serve --encryption-key-file; signalbox new-key adds one';
const noLogin =
  'there are no logins: create tokens with signalbox token create, or let the embedding service authenticate callers';

/** Nomad's commands that do not exist here, by their first words, with advice. */
const absent: Readonly<Record<string, string>> = {
  'acl auth-method': noLogin,
  'acl binding-rule': noLogin,
  'alloc pause': 'Signalbox does not pause tasks: use signalbox alloc stop or alloc restart',
  fmt: 'Signalbox does not format job files',
  license: 'Signalbox needs no license file',
  login: noLogin,
  'node config': 'set the server when you start the agent: signalbox agent --server',
  'node identity': 'renew the tokens of nodes with signalbox token',
  'operator autopilot': noRaft,
  'operator client-state':
    'the state of an agent is in its --directory; signalbox node status prints the state of its node',
  'operator debug': 'use signalbox operator metrics, signalbox monitor and signalbox operator api',
  'operator gossip': noRaft,
  'operator keygen': keys,
  'operator keyring': keys,
  'operator raft': noRaft,
  'operator root': keys,
  'operator snapshot': 'all state is in the store of the server: copy it with signalbox backup FILE',
  'operator utilization': 'use signalbox operator metrics',
  plugin: noVolumes,
  quota: quotas,
  recommendation: 'Signalbox makes no recommendations',
  sentinel: 'policies on jobs are in the seed file of the server, or in jobs.policies of createEngine',
  'server force-leave': noRaft,
  'server join': noRaft,
  setup: 'Signalbox has no Consul or Vault integration',
  tls: 'put a TLS-terminating proxy in front of the server; create certificates with openssl',
  ui: 'there is no web interface: use signalbox status and signalbox job status',
  'var init': 'signalbox var put PATH KEY=VALUE needs no file',
  volume: noVolumes,
};

/** The advice for a command of Nomad that does not exist here; undefined for unknown commands. */
export function adviceForCommand(
  args: readonly string[],
): { readonly words: string; readonly advice: string } | undefined {
  for (const count of [2, 1]) {
    const words = args.slice(0, count).join(' ');
    const advice = Object.hasOwn(absent, words) ? absent[words] : undefined;
    if (advice !== undefined) return { words, advice };
  }
  return undefined;
}

const trust = 'set NODE_EXTRA_CA_CERTS to a file with the trusted certificates';

/** Nomad's options that do not exist here, with advice. */
const instead: Readonly<Record<string, string>> = {
  t: 'use --json, with jq for parts of the output',
  verbose: 'use --json, which shows all fields and full IDs',
  short: 'use --json, with jq for parts of the output',
  quiet: 'use --json, with jq for parts of the output',
  os: 'use --json, which shows the attributes',
  region: 'a server has one region: name the server with --address',
  global: 'a server has one region',
  token: 'set SIGNALBOX_TOKEN: other users of this host can see command lines',
  'no-color': 'set NO_COLOR=1',
  'force-color': 'set FORCE_COLOR=1',
  'ca-cert': trust,
  'ca-path': trust,
  'client-cert': 'put a proxy in front that presents the certificate',
  'client-key': 'put a proxy in front that presents the certificate',
  'tls-server-name': 'use the host name of the certificate in --address',
  'tls-skip-verify': trust,
  output: 'use signalbox parse FILE',
  'consul-token': 'Signalbox has no Consul integration',
  'consul-namespace': 'Signalbox has no Consul integration',
  'vault-token': 'Signalbox has no Vault integration',
  'vault-namespace': 'Signalbox has no Vault integration',
  out: 'use --json',
};

/** The advice for an option of Nomad that does not exist here; undefined for unknown options. */
export function adviceForOption(option: string): string | undefined {
  return Object.hasOwn(instead, option) ? instead[option] : undefined;
}
