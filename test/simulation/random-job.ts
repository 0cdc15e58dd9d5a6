import type { JobInput } from '../../src/jobs/document/job-input.js';
import type { Random } from './random.js';

const nanos = (seconds: number): number => seconds * 1e9;

/** A job that somebody might register: of any type, with or without ports, updates step by step or at once. */
export function randomJob(random: Random, id: string): JobInput {
  const type = random.pick('service', 'service', 'service', 'batch', 'batch', 'system', 'sysbatch');
  const isService = type === 'service';
  const once = type === 'batch' || type === 'sysbatch';
  const update = isService && random.chance(0.6) ? { Update: rollingUpdate(random) } : { Update: { MaxParallel: 0 } };
  const group = {
    Name: 'app',
    ...(type === 'system' || type === 'sysbatch' ? {} : { Count: random.between(0, 4) }),
    EphemeralDisk: { SizeMB: 10 },
    Networks: networks(random),
    RestartPolicy: { Attempts: 0, Interval: nanos(600), Delay: nanos(1), Mode: 'fail' as const },
    ...(type === 'system' || type === 'sysbatch' ? {} : { ReschedulePolicy: reschedulePolicy(random, isService) }),
    Tasks: [task(random)],
  };
  return {
    ID: id,
    Type: type,
    Datacenters: ['*'],
    Priority: random.between(1, 100),
    TaskGroups: [group],
    ...(once ? {} : update),
  };
}

function rollingUpdate(random: Random) {
  const canary = random.pick(0, 0, 1, 2);
  return {
    MaxParallel: random.between(1, 3),
    Canary: canary,
    AutoPromote: canary > 0 && random.chance(0.6),
    AutoRevert: random.chance(0.4),
    HealthCheck: 'task_states',
    MinHealthyTime: nanos(5),
    HealthyDeadline: nanos(60),
    ProgressDeadline: nanos(120),
  };
}

function reschedulePolicy(random: Random, isService: boolean) {
  const policy = { Delay: nanos(5), DelayFunction: 'constant' as const, MaxDelay: 0 };
  if (isService && random.chance(0.7)) return { ...policy, Unlimited: true };
  return { ...policy, Unlimited: false, Attempts: random.between(0, 2), Interval: nanos(600) };
}

function networks(random: Random) {
  const kind = random.between(0, 9);
  if (kind < 2) return [{ Mode: 'host', ReservedPorts: [{ Label: 'fixed', Value: 8000 + random.between(0, 2) }] }];
  return kind < 5 ? [{ Mode: 'host', DynamicPorts: [{ Label: 'any' }] }] : [];
}

function task(random: Random) {
  return {
    Name: 'main',
    Driver: 'raw_exec',
    Config: { command: '/bin/true' },
    Env: { V: String(random.between(0, 3)) },
    Resources: { CPU: random.between(50, 600), MemoryMB: random.between(50, 300) },
  };
}
