import { z } from 'zod';
import { capabilityFromName, policyLevels, policyOfRule, policyShorthands } from '../../../src/index.js';
import { tokenSecret } from '../../../src/options/option-kinds.js';

const identifier = z.string().min(1).max(255);
const capability = z.string().transform((name, context) => {
  const known = capabilityFromName(name);
  if (known !== undefined) return known;
  context.issues.push({ code: 'custom', input: name, message: 'unknown capability' });
  return z.NEVER;
});

/** The fewest characters of a secret: shorter ones can be guessed. */
const shortestSecret = 12;

const filterExpression = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const policy = policyOfRule({ name: '', level: 'advisory', refuse: text });
    if (policy.isErr()) context.addIssue({ code: 'custom', message: policy.error.fault.message });
  });

const amount = z.number().int().min(0);

const words = z.array(z.string().min(1)).nullable().default(null);

/** The file that `signalbox serve --seed FILE` applies at every start. Unknown keys are errors, as they are misspellings. */
export const seedFileSchema = z.strictObject({
  workspaces: z
    .array(
      z.strictObject({
        id: identifier,
        name: identifier,
        organization: identifier,
        execution_mode: z.enum(['remote', 'agent', 'local']).default('remote'),
        drift_detection: z.boolean().default(false),
        health_assessments: z.boolean().default(false),
        /** Page of the workspace, for links in messages. */
        url: z
          .url({ protocol: /^https?$/ })
          .max(2048)
          .nullable()
          .default(null),
      }),
    )
    .default([]),
  users: z
    .array(
      z.strictObject({
        id: identifier,
        username: identifier,
        email: z.string().min(3).max(320).includes('@'),
        organization: identifier,
      }),
    )
    .default([]),
  namespaces: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9-]{1,128}$/, 'a name has 1 to 128 letters, digits and dashes'),
        description: z.string().max(256).optional(),
        meta: z.record(z.string().min(1), z.string()).optional(),
        capabilities: z
          .strictObject({
            enabled_task_drivers: words,
            disabled_task_drivers: words,
            enabled_network_modes: words,
            disabled_network_modes: words,
          })
          .optional(),
      }),
    )
    .default([]),
  tokens: z
    .array(
      z.strictObject({
        secret: z
          .string()
          .refine((secret) => tokenSecret.fits(secret), `a secret has ${tokenSecret.takes}`)
          .min(
            shortestSecret,
            `a secret has at least ${shortestSecret} characters; make one with: openssl rand -hex 16`,
          ),
        name: z.string().max(255).default(''),
        management: z.boolean().default(false),
        namespaces: z
          .record(
            z.string().regex(/^[a-zA-Z0-9*-]{1,128}$/, 'a namespace or glob has letters, digits, dashes and stars'),
            z.strictObject({
              capabilities: z.array(capability).default([]),
              policy: z.enum(policyShorthands).optional(),
            }),
          )
          .default({}),
        workspaces: z.record(identifier, z.enum(['admin', 'events'])).default({}),
        policies: z.array(identifier).default([]),
      }),
    )
    .default([]),
  /** Policies of the job interface, which tokens name; the rules as HCL or JSON text. */
  policies: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9-]{1,128}$/, 'a name has 1 to 128 letters, digits and dashes'),
        description: z.string().max(256).default(''),
        rules: z.string().min(1),
      }),
    )
    .default([]),
  /** Notification configurations, created or updated by workspace and name. */
  configurations: z
    .array(
      z.strictObject({
        workspace: identifier,
        name: identifier,
        destination_type: z.string().min(1).default('generic'),
        url: z.string().min(1).optional(),
        token: z.string().min(1).optional(),
        triggers: z.array(z.string().min(1)).default([]),
        users: z.array(identifier).optional(),
        enabled: z.boolean().default(true),
        delivery: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .default([]),
  /** Job policies: filter expressions over the job as it would be stored. */
  job_policies: z
    .array(
      z.strictObject({
        name: identifier,
        level: z.enum(policyLevels),
        refuse: filterExpression,
        message: z.string().min(1).optional(),
      }),
    )
    .default([]),
  /** Limits on the total resources of a namespace's jobs; the first entry that matches the namespace counts. */
  quotas: z
    .array(
      z.strictObject({
        namespace: identifier,
        jobs: amount.optional(),
        cpu: amount.optional(),
        cores: amount.optional(),
        memory_mb: amount.optional(),
        dispatches_per_minute: amount.optional(),
      }),
    )
    .default([]),
  /** The workspace that a job reports its runs to; the first matching rule counts. */
  run_notifications: z
    .array(
      z.strictObject({
        workspace: identifier,
        namespace: identifier.optional(),
        job: identifier.optional(),
        meta: z.record(identifier, z.string()).optional(),
      }),
    )
    .default([]),
});

export type SeedFile = z.infer<typeof seedFileSchema>;
