import { err, ok, type Result } from 'neverthrow';
import { instantFromRfc3339 } from '../../shared/instant.js';
import { globMatches } from '../../shared/values.js';
import type { FieldFault, InvalidAttributes } from '../errors.js';
import type { AssessmentResult, NotificationEvent } from './event.js';
import { alertTypeNamed, alertTypes } from './event-type.js';
import {
  type AssessmentTrigger,
  notificationForRunStatus,
  type RunTrigger,
  type Trigger,
  type TriggerDefinition,
  triggerDefinitions,
  triggerFromSpelling,
  type WorkspaceTrigger,
} from './trigger.js';

/** Bounds of an event's strings, in characters. */
export const eventLimits = { message: 65_536, text: 4096, idempotencyKey: 256 } as const;

/** A submitted event, with the field names of the payloads: `trigger`, `message`, `run_id`, `new_assessment_result`, … */
export type EventAttributes = Readonly<Record<string, unknown>>;

export interface ReadEvent {
  readonly event: NotificationEvent;
  readonly idempotencyKey: string | null;
}

const root = '/data/attributes';

/**
 * The event that the attributes describe. Its kind follows from the trigger; unknown attributes are ignored. A message
 * that is omitted or blank is derived from the run's status or the trigger's name. All faults are reported.
 */
export function eventFromAttributes(
  attributes: EventAttributes,
  earlier: readonly FieldFault[] = [],
): Result<ReadEvent, InvalidAttributes> {
  const reader = attributeReader(attributes, root, [...earlier]);
  const idempotencyKey = reader.text('idempotency_key', eventLimits.idempotencyKey);
  if (idempotencyKey === '') reader.refuse('idempotency_key', 'must not be empty');
  const trigger = reader.text('trigger', eventLimits.text);
  const definition = trigger === null ? undefined : triggerFromSpelling(trigger);
  if (definition === undefined) {
    if (trigger !== null) reader.refuse('trigger', problemOfName(trigger));
    else if (!reader.isFaulty('trigger')) reader.refuse('trigger', 'is missing');
    return err({ type: 'invalid_attributes', faults: reader.faults });
  }
  const event = readEvent(definition, reader);
  if (reader.faults.length > 0 || event === null) return err({ type: 'invalid_attributes', faults: reader.faults });
  return ok({ event, idempotencyKey });
}

/** Why the name is not a valid trigger of a submitted event, as the end of a sentence. */
function problemOfName(trigger: string): string {
  if (trigger.includes('*')) {
    return `is a pattern; name one event type, such as ${patternExample(trigger)}`;
  }
  if (alertTypeNamed(trigger) !== undefined) {
    return 'is emitted by Signalbox only; use explain to see which configurations it would notify';
  }
  return 'is neither a trigger nor a registered event type';
}

function patternExample(pattern: string): string {
  const names = [...alertTypes, ...triggerDefinitions.map(({ value }) => value)];
  return names.find((name) => globMatches(pattern, name)) ?? 'order.created';
}

function readEvent(
  definition: TriggerDefinition & { readonly value: Trigger },
  reader: AttributeReader,
): NotificationEvent | null {
  const given = messageOf(reader);
  switch (definition.scope) {
    case 'run': {
      const runId = reader.text('run_id', 256);
      if ((runId === null || runId === '') && !reader.isFaulty('run_id')) reader.refuse('run_id', 'is missing');
      const runStatus = reader.text('run_status', 256);
      return {
        kind: 'run',
        trigger: definition.value as RunTrigger,
        message: given ?? messageForStatus(runStatus, definition),
        runId: runId ?? '',
        runUrl: reader.text('run_url', eventLimits.text),
        runMessage: reader.text('run_message', eventLimits.message),
        runCreatedAt: reader.time('run_created_at'),
        runCreatedBy: reader.text('run_created_by', eventLimits.text),
        runStatus,
        runUpdatedAt: reader.time('run_updated_at'),
        runUpdatedBy: reader.text('run_updated_by', eventLimits.text),
        speculative: reader.flag('speculative'),
        runCreatorAvatarUrl: reader.text('run_created_by_avatar_url', eventLimits.text),
      };
    }
    case 'assessment': {
      const newAssessmentResult = readAssessment(reader, 'new_assessment_result');
      if (newAssessmentResult === null && !reader.isFaulty('new_assessment_result')) {
        reader.refuse('new_assessment_result', 'is missing');
      }
      const priorAssessmentResult = readAssessment(reader, 'prior_assessment_result');
      if (newAssessmentResult === null) return null;
      const trigger = definition.value as AssessmentTrigger;
      const message = given ?? assessmentMessages[trigger];
      return { kind: 'assessment', trigger, message, newAssessmentResult, priorAssessmentResult };
    }
    case 'workspace':
      return {
        kind: 'auto_destroy',
        trigger: definition.value as WorkspaceTrigger,
        message: given ?? definition.displayName,
        autoDestroyAt: reader.time('auto_destroy_at'),
        runCreatedAt: reader.time('run_created_at'),
        runStatus: reader.text('run_status', 256),
        runExternalId: reader.text('run_external_id', 256),
        runCreateErrorMessage: reader.text('run_create_error_message', eventLimits.message),
      };
  }
}

/** Null when omitted or blank. */
function messageOf(reader: AttributeReader): string | null {
  const message = reader.text('message', eventLimits.message);
  return message === null || message.trim() === '' ? null : message;
}

const assessmentMessages: Readonly<Record<AssessmentTrigger, string>> = {
  'assessment:drifted': 'Drift Detected',
  'assessment:check_failure': 'Checks Failed',
  'assessment:failed': 'Health Assessment Failed',
};

function messageForStatus(status: string | null, definition: TriggerDefinition): string {
  const known = status === null ? null : notificationForRunStatus(status, true);
  return known?.trigger === definition.value ? known.message : `Run ${definition.displayName}`;
}

function readAssessment(reader: AttributeReader, name: string): AssessmentResult | null {
  const nested = reader.nested(name);
  if (nested === null) return null;
  return {
    id: nested.needed(nested.text('id', 256), 'id', ''),
    url: nested.needed(nested.text('url', eventLimits.text), 'url', ''),
    succeeded: nested.flag('succeeded'),
    drifted: nested.flag('drifted'),
    all_checks_succeeded: nested.flag('all_checks_succeeded'),
    resources_drifted: nested.count('resources_drifted'),
    resources_undrifted: nested.count('resources_undrifted'),
    checks_passed: nested.count('checks_passed'),
    checks_failed: nested.count('checks_failed'),
    checks_errored: nested.count('checks_errored'),
    checks_unknown: nested.count('checks_unknown'),
    created_at: nested.needed(nested.time('created_at'), 'created_at', ''),
  };
}

interface AttributeReader {
  readonly faults: FieldFault[];
  refuse(name: string, problem: string): void;
  isFaulty(name: string): boolean;
  /** Null when absent. */
  text(name: string, longest: number): string | null;
  time(name: string): string | null;
  /** False when absent. */
  flag(name: string): boolean;
  /** Zero when absent. */
  count(name: string): number;
  nested(name: string): AttributeReader | null;
  needed<T>(value: T | null, name: string, otherwise: T): T;
}

function attributeReader(attributes: EventAttributes, pointer: string, faults: FieldFault[]): AttributeReader {
  const refuse = (name: string, problem: string): void => {
    faults.push({ pointer: `${pointer}/${name}`, message: `${name} ${problem}` });
  };
  const isFaulty = (name: string): boolean =>
    faults.some((fault) => fault.pointer === `${pointer}/${name}` || fault.pointer.startsWith(`${pointer}/${name}/`));
  const value = (name: string): unknown => (Object.hasOwn(attributes, name) ? (attributes[name] ?? null) : null);
  const text = (name: string, longest: number): string | null => {
    const found = value(name);
    if (found === null) return null;
    if (typeof found !== 'string') refuse(name, 'must be a string');
    else if (found.length > longest) refuse(name, `must have at most ${longest} characters`);
    else return found;
    return null;
  };
  return {
    faults,
    refuse,
    isFaulty,
    text,
    time(name) {
      const found = text(name, 64);
      if (found === null || instantFromRfc3339(found) !== undefined) return found;
      refuse(name, 'must be a time such as 2026-01-02T03:04:05.000Z');
      return null;
    },
    flag(name) {
      const found = value(name);
      if (found !== null && typeof found !== 'boolean') refuse(name, 'must be true or false');
      return found === true;
    },
    count(name) {
      const found = value(name);
      if (found === null) return 0;
      if (typeof found === 'number' && Number.isFinite(found)) return found;
      refuse(name, 'must be a number');
      return 0;
    },
    nested(name) {
      const found = value(name);
      if (found === null) return null;
      if (typeof found === 'object' && !Array.isArray(found)) {
        return attributeReader(found as EventAttributes, `${pointer}/${name}`, faults);
      }
      refuse(name, 'must be an object');
      return null;
    },
    needed(found, name, otherwise) {
      if (found === null && !isFaulty(name)) refuse(name, 'is missing');
      return found ?? otherwise;
    },
  };
}
