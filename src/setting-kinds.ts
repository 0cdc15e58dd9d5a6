import { leastValueBytes, mostValueBytes } from './functions/value-limits.js';
import { policyLevels } from './jobs/admission/job-policy.js';
import type { QuotaRule } from './jobs/admission/namespace-quota.js';
import type { RunNotificationRule } from './notifications/run-notification-rule.js';
import type { OptionKind, OptionTable } from './options/check-options.js';
import {
  amount,
  count,
  flag,
  group,
  headerName,
  listOf,
  mapOf,
  milliseconds,
  oneOf,
  optional,
  passingTime,
  share,
  text,
  textLike,
  wholeFrom,
} from './options/option-kinds.js';
import { runUrlForm } from './options/option-texts.js';
import type { PolicyRule } from './queries/policy-rule.js';

const policyRule = group<PolicyRule>({
  name: text,
  level: oneOf(...policyLevels),
  refuse: text,
  message: optional(text),
});

const quotaRule = group<QuotaRule>({
  namespace: text,
  jobs: optional(amount),
  cpu: optional(amount),
  cores: optional(amount),
  memoryMB: optional(amount),
  dispatchesPerMinute: optional(amount),
});

const runNotificationRule = group<RunNotificationRule>({
  workspace: text,
  namespace: optional(text),
  job: optional(text),
  meta: optional(mapOf(text)),
});

/** Settings whose kind does not follow from their defaults. */
const kinds: Kinds = {
  'functions.maximumUnfinished': count,
  'functions.maximumValueBytes': wholeFrom(leastValueBytes, mostValueBytes),
  'jobs.policies': listOf(policyRule),
  'jobs.runUrl': textLike(runUrlForm, "a URL such as 'https://ci.example.net/{job}/{run}', or '' for no links"),
  'jobs.quotas': listOf(quotaRule),
  'notifications.delivery.retry.generic': listOf(milliseconds),
  'notifications.delivery.retry.chat': listOf(milliseconds),
  'notifications.delivery.retry.email': listOf(milliseconds),
  'notifications.delivery.autoDisableAfter': {
    takes: 'a number of milliseconds, or null',
    fits: (value) => value === null || milliseconds.fits(value),
  },
  'notifications.defaultPageSize': count,
  'notifications.maximumPageSize': count,
  // With zero nothing would be sent, and the delivery loop would spin.
  'notifications.delivery.concurrency': count,
  'notifications.delivery.window': count,
  'notifications.delivery.lease': passingTime(1),
  'notifications.delivery.recordWithin': passingTime(0),
  'notifications.delivery.jitter': share,
  'notifications.signature.headers': listOf(headerName),
  'notifications.signature.idHeader': headerName,
  'notifications.signature.timestampHeader': headerName,
  'notifications.redactedHeaders': listOf(text),
  'notifications.publicOrigin': textLike(/^https?:\/\/[^\s/]/, "an origin such as 'https://jobs.example.net'"),
  'notifications.basePath': textLike(/^(?:\/.*)?$/, "'' or a path that begins with a slash"),
  runNotifications: listOf(runNotificationRule),
};

/**
 * The option table of the overrides: the names of the defaults, and values of their types. `choices` lists the allowed values of
 * enumerated settings, by path.
 */
export function settingKinds<S extends object>(
  defaults: S,
  choices: Readonly<Record<string, readonly string[]>>,
): OptionTable<S> {
  const ofChoices = Object.entries(choices).map(([path, words]) => [path, oneOf(...words)] as const);
  return tableOf(defaults, '', { ...kinds, ...Object.fromEntries(ofChoices) }) as OptionTable<S>;
}

type Kinds = Readonly<Record<string, OptionKind>>;

function tableOf(defaults: object, path: string, known: Kinds): Kinds {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => {
      return [name, optional(known[path + name] ?? kindOf(value, path + name, known))];
    }),
  );
}

function kindOf(standard: unknown, path: string, known: Kinds): OptionKind {
  if (typeof standard === 'number') return amount;
  if (typeof standard === 'string') return text;
  if (typeof standard === 'boolean') return flag;
  return group<object>(tableOf(standard as object, `${path}.`, known));
}
