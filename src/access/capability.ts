/** Capabilities of a namespace rule (job interface, Authentication). `policy-override` is the neutral name of `sentinel-override`. */
export const namespaceCapabilities = [
  'deny',
  'list-jobs',
  'parse-job',
  'read-job',
  'submit-job',
  'dispatch-job',
  'read-logs',
  'read-fs',
  'alloc-exec',
  'alloc-node-exec',
  'alloc-lifecycle',
  'policy-override',
  'csi-register-plugin',
  'csi-write-volume',
  'csi-read-volume',
  'csi-list-volume',
  'csi-mount-volume',
  'host-volume-create',
  'host-volume-register',
  'host-volume-read',
  'host-volume-write',
  'host-volume-delete',
  'list-scaling-policies',
  'read-scaling-policy',
  'read-job-scaling',
  'scale-job',
  'submit-recommendation',
  'register-job',
  'revert-job',
  'deregister-job',
  'purge-job',
  'evaluate-job',
  'plan-job',
  'tag-job-version',
  'stable-job',
  'fail-deployment',
  'pause-deployment',
  'promote-deployment',
  'unblock-deployment',
  'cancel-deployment',
  'set-alloc-health-deployment',
  'gc-allocation',
  'pause-allocation',
  'force-periodic-job',
  'delete-service-registration',
] as const;

/** One right in a namespace; `deny` takes all others away. */
export type Capability = (typeof namespaceCapabilities)[number];

/** Words that stand for several capabilities in the rule of a namespace. */
export const policyShorthands = ['read', 'write', 'scale', 'deny'] as const;
/** One of `policyShorthands`: `read`, `write`, which includes `read`, `scale`, or `deny`, which takes all rights away. */
export type PolicyShorthand = (typeof policyShorthands)[number];

const read: readonly Capability[] = [
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

const write: readonly Capability[] = [
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
];

const expansions: Readonly<Record<PolicyShorthand, readonly Capability[]>> = {
  read,
  write,
  scale: [
    'list-scaling-policies',
    'read-scaling-policy',
    'read-job-scaling',
    'scale-job',
    'read-job',
    'submit-recommendation',
  ],
  deny: ['deny'],
};

const implied: Partial<Readonly<Record<Capability, readonly Capability[]>>> = {
  'host-volume-write': ['host-volume-register', 'host-volume-create', 'host-volume-delete', 'host-volume-read'],
  'host-volume-register': ['host-volume-create', 'host-volume-read'],
  'host-volume-create': ['host-volume-read'],
};

/** The capability of a name in either vocabulary; undefined for an unknown name. */
export function capabilityFromName(name: string): Capability | undefined {
  const canonical = name === 'sentinel-override' ? 'policy-override' : name;
  return namespaceCapabilities.find((capability) => capability === canonical);
}

/**
 * The capabilities of a rule as policies show them, order and duplicates included: the listed ones, then those of the
 * shorthand, each followed by the ones it implies. An unknown shorthand grants nothing.
 */
export function expandPolicy(word: string, written: readonly string[]): readonly string[] {
  const shorthand = policyShorthands.find((known) => known === word);
  return [...written, ...(shorthand === undefined ? [] : expansions[shorthand])].flatMap((name) => {
    const capability = capabilityFromName(name);
    return [name, ...(capability === undefined ? [] : (implied[capability] ?? []))];
  });
}

/** All capabilities of a rule: the shorthand and the list add up, implied ones included. */
export function expandCapabilities(
  shorthand: PolicyShorthand | undefined,
  capabilities: readonly Capability[],
): ReadonlySet<Capability> {
  return new Set(expandPolicy(shorthand ?? '', capabilities) as readonly Capability[]);
}
