/*
 * Commands and options of Nomad's command line: those that mean a command here, and those that do not exist
 * here, with the replacement to suggest.
 */

/** Nomad's commands and the equivalent commands here. */
const otherWords: Readonly<Record<string, string>> = {
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

const longest = Math.max(...Object.keys(otherWords).map((words) => words.split(' ').length));

/** Replaces Nomad's command words by those of this command line. */
export function inOwnWords(args: readonly string[]): readonly string[] {
  for (let count = Math.min(longest, args.length); count > 0; count -= 1) {
    const words = args.slice(0, count).join(' ');
    const own = Object.hasOwn(otherWords, words) ? otherWords[words] : undefined;
    if (own !== undefined) return [...own.split(' '), ...args.slice(count)];
  }
  return args;
}

const noVolumes = 'jobs mount folders of hosts: signalbox serve --volume, signalbox agent --volume';
const quotas = 'quotas are settings of the embedding service: jobs.quotas of createEngine';
const noRaft = 'servers share one store without a leader, so there are no peers to manage';
const keys = 'keys are lines of the file that signalbox serve --encryption-key-file names; signalbox new-key makes one';
const noLogin = 'tokens come from the store of the server, or the embedding service authenticates callers';

/** Nomad's commands that do not exist here, by their first words, with advice. */
const absent: Readonly<Record<string, string>> = {
  'acl auth-method': noLogin,
  'acl binding-rule': noLogin,
  'alloc pause': 'tasks are not paused; signalbox alloc stop and alloc restart end and begin them',
  fmt: 'job files are not formatted here',
  license: 'there is none to apply',
  login: noLogin,
  'node config': 'the server of an agent is an option of its start: signalbox agent --server',
  'node identity': 'tokens of nodes are renewed with signalbox token',
  'operator autopilot': noRaft,
  'operator client-state':
    'the state of an agent is in its --directory; signalbox node status prints what the server has of it',
  'operator debug': 'signalbox operator metrics, monitor and operator api show what a server does',
  'operator gossip': noRaft,
  'operator keygen': keys,
  'operator keyring': keys,
  'operator raft': noRaft,
  'operator root': keys,
  'operator snapshot': 'all state is in the store of the server: signalbox backup FILE copies it',
  'operator utilization': 'signalbox operator metrics prints what is used',
  plugin: noVolumes,
  quota: quotas,
  recommendation: 'there are no recommendations',
  sentinel: 'policies on jobs are functions of the embedding service',
  'server force-leave': noRaft,
  'server join': noRaft,
  setup: 'there is no such integration',
  tls: 'put a TLS-terminating proxy in front of the server; openssl makes certificates',
  ui: 'there is no web interface: signalbox status and signalbox job status show the jobs',
  'var init': 'signalbox var put PATH KEY=VALUE needs no file',
  volume: noVolumes,
};

/** The advice for a command of Nomad that does not exist here; undefined for unknown commands. */
export function inPlaceOf(args: readonly string[]): { readonly words: string; readonly advice: string } | undefined {
  for (const count of [2, 1]) {
    const words = args.slice(0, count).join(' ');
    const advice = Object.hasOwn(absent, words) ? absent[words] : undefined;
    if (advice !== undefined) return { words, advice };
  }
  return undefined;
}

const trust = 'set NODE_EXTRA_CA_CERTS to a file with the certificates that are trusted';

/** Nomad's options that do not exist here, with advice. */
const instead: Readonly<Record<string, string>> = {
  t: 'use --json, and jq for parts of it',
  verbose: 'use --json, which shows everything and whole IDs',
  short: 'use --json, and jq for parts of it',
  quiet: 'use --json, and jq for parts of it',
  os: 'use --json, which shows the attributes',
  region: 'a server has one region: name the server with --address',
  global: 'a job is in one region',
  token: 'set SIGNALBOX_TOKEN: other users of this host can see command lines',
  'no-color': 'set NO_COLOR=1',
  'force-color': 'set FORCE_COLOR=1',
  'ca-cert': trust,
  'ca-path': trust,
  'client-cert': 'put a proxy in front that presents the certificate',
  'client-key': 'put a proxy in front that presents the certificate',
  'tls-server-name': 'name the server in --address as its certificate does',
  'tls-skip-verify': trust,
  output: 'use signalbox parse FILE',
  'consul-token': 'there is no such integration',
  'consul-namespace': 'there is no such integration',
  'vault-token': 'there is no such integration',
  'vault-namespace': 'there is no such integration',
  out: 'use --json',
};

/** The advice for an option of Nomad that does not exist here; undefined for unknown options. */
export function insteadOf(option: string): string | undefined {
  return Object.hasOwn(instead, option) ? instead[option] : undefined;
}
