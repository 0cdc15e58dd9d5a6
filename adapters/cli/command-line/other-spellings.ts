/*
 * What people type who come from another command line over the same interface: words that mean a command of this one, and
 * options that this one does not have, with what does the same.
 */

/** Other words, and the command that they mean. */
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

/** The arguments in this command line's own words. */
export function inOwnWords(args: readonly string[]): readonly string[] {
  for (let count = Math.min(longest, args.length); count > 0; count -= 1) {
    const words = args.slice(0, count).join(' ');
    const own = Object.hasOwn(otherWords, words) ? otherWords[words] : undefined;
    if (own !== undefined) return [...own.split(' '), ...args.slice(count)];
  }
  return args;
}

const trust = 'set NODE_EXTRA_CA_CERTS to a file with the certificates that are trusted';

/** Options of that command line, and what to do instead. */
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
  'hcl2-strict': 'unknown variables are always refused',
  output: 'use signalbox parse FILE',
  'consul-token': 'there is no such integration',
  'consul-namespace': 'there is no such integration',
  'vault-token': 'there is no such integration',
  'vault-namespace': 'there is no such integration',
  out: 'use --json',
};

/** What to do instead of an option that is not there; undefined when it is unknown. */
export function insteadOf(option: string): string | undefined {
  return Object.hasOwn(instead, option) ? instead[option] : undefined;
}
