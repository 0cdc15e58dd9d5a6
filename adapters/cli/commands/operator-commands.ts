import { orThrow } from '../../../src/client/index.js';
import type { SchedulerConfiguration } from '../../../src/scheduler/index.js';
import { type Command, command, type OptionValues, option, yesOrNo } from '../command-line/command.js';
import { facts, inJson, inLines, tableOf } from '../output/tables.js';
import { Stopped } from '../stopped.js';
import { flagOption, numberOption, optional } from './option-values.js';
import { print } from './print.js';
import { storeCommand } from './store-status.js';

const getConfiguration = command({
  usage: 'operator scheduler get',
  summary: 'show the scheduler configuration of the installation',
  run: async (invocation) => {
    const { value } = await orThrow(invocation.box.scheduler.readConfiguration());
    return print(invocation, value, configurationText);
  },
});

function configurationText(configuration: SchedulerConfiguration): string {
  const { PreemptionConfig: preempts } = configuration;
  return facts({
    Algorithm: configuration.SchedulerAlgorithm,
    'Memory oversubscription': configuration.MemoryOversubscriptionEnabled,
    'Registrations refused': configuration.RejectJobRegistration,
    'Evaluations paused': configuration.PauseEvalBroker,
    'System jobs preempt': preempts.SystemSchedulerEnabled,
    'Service jobs preempt': preempts.ServiceSchedulerEnabled,
    'Batch jobs preempt': preempts.BatchSchedulerEnabled,
    'Sysbatch jobs preempt': preempts.SysBatchSchedulerEnabled,
    Index: configuration.ModifyIndex,
  });
}

const flag = (summary: string) => option.text('BOOL', summary, yesOrNo);

const settings = {
  'scheduler-algorithm': option.text('NAME', 'how nodes are ranked', ['binpack', 'spread']),
  'memory-oversubscription': flag('whether tasks may use more memory than they reserve, up to memory_max'),
  'reject-job-registration': flag('whether job registrations are refused, except with management tokens'),
  'pause-eval-broker': flag('whether the processing of evaluations is paused'),
  'preempt-system-scheduler': flag('whether system jobs preempt other jobs'),
  'preempt-service-scheduler': flag('whether service jobs preempt other jobs'),
  'preempt-batch-scheduler': flag('whether batch jobs preempt other jobs'),
  'preempt-sysbatch-scheduler': flag('whether sysbatch jobs preempt other jobs'),
  'check-index': option.text('N', 'only if the configuration has this modify index'),
} as const;

const setConfiguration = command({
  usage: 'operator scheduler set',
  summary: 'change the scheduler configuration; what no option names is left unchanged',
  options: settings,
  run: async (invocation) => {
    const { box, options } = invocation;
    const { value: before } = await orThrow(box.scheduler.readConfiguration());
    const asked = numberOption('check-index', options['check-index']);
    // Check-and-set: concurrent changes of different settings do not undo each other.
    const checkIndex = asked ?? before.ModifyIndex;
    const answer = await orThrow(box.scheduler.setConfiguration({ ...changed(before, options), checkIndex }));
    if (!answer.updated) throw new Stopped('the configuration has another modify index: read it again');
    return print(invocation, answer, ({ index }) => `the configuration is changed, index ${index}\n`);
  },
});

function changed(before: SchedulerConfiguration, options: OptionValues<typeof settings>) {
  const { PreemptionConfig: preempts } = before;
  const asked = (name: keyof typeof settings): boolean | undefined => flagOption(name, options[name]);
  return {
    SchedulerAlgorithm: options['scheduler-algorithm'] ?? before.SchedulerAlgorithm,
    MemoryOversubscriptionEnabled: asked('memory-oversubscription') ?? before.MemoryOversubscriptionEnabled,
    RejectJobRegistration: asked('reject-job-registration') ?? before.RejectJobRegistration,
    PauseEvalBroker: asked('pause-eval-broker') ?? before.PauseEvalBroker,
    // Has no effect; kept for clients that have set it.
    NodeLimitForFeasibilityChecks: before.NodeLimitForFeasibilityChecks,
    PreemptionConfig: {
      SystemSchedulerEnabled: asked('preempt-system-scheduler') ?? preempts.SystemSchedulerEnabled,
      ServiceSchedulerEnabled: asked('preempt-service-scheduler') ?? preempts.ServiceSchedulerEnabled,
      BatchSchedulerEnabled: asked('preempt-batch-scheduler') ?? preempts.BatchSchedulerEnabled,
      SysBatchSchedulerEnabled: asked('preempt-sysbatch-scheduler') ?? preempts.SysBatchSchedulerEnabled,
    },
  };
}

const metrics = command({
  usage: 'operator metrics',
  summary: 'print the metrics of the server',
  options: { prometheus: option.flag('in the Prometheus text format') },
  run: async ({ box, options, terminal }) => {
    const format = options.prometheus ? 'prometheus' : 'json';
    const answer = await orThrow(box.system.metrics({ format }));
    terminal.out(typeof answer === 'string' ? inLines(answer) : `${inJson(answer, 2)}\n`);
    return 0;
  },
});

const members = command({
  usage: 'server members',
  summary: 'list the servers of the region',
  run: async (invocation) => {
    const answer = await orThrow(invocation.box.system.members());
    const rows = answer.Members.map(({ Name, Addr, Port, Status, Tags }) => [
      Name,
      `${Addr}:${Port}`,
      Status,
      Tags['build'] ?? '',
      Tags['dc'] ?? '',
      Tags['region'] ?? '',
    ]);
    const headings = ['Name', 'Address', 'Status', 'Version', 'Datacenter', 'Region'];
    return print(invocation, answer, () => tableOf(headings, rows, 'no servers'));
  },
});

const policies = command({
  usage: 'scaling policy list',
  summary: 'list the scaling policies of jobs for autoscalers',
  options: {
    job: option.text('JOB', 'only policies of this job'),
    type: option.text('TYPE', 'only policies of this type'),
  },
  run: async (invocation) => {
    const { box, inNamespace, options } = invocation;
    const wanted = { ...inNamespace, ...optional('job', options.job), ...optional('type', options.type) };
    const { value } = await orThrow(box.scaling.policies(wanted));
    const rows = value.map(({ ID, Enabled, Type, Target }) => [
      ID,
      `${Enabled}`,
      Type,
      Object.entries(Target ?? {})
        .map(([kind, name]) => `${kind}:${name}`)
        .join(','),
    ]);
    return print(invocation, value, () => tableOf(['ID', 'Enabled', 'Type', 'Target'], rows, 'no scaling policies'));
  },
});

const policy = command({
  usage: 'scaling policy info POLICY',
  summary: 'print a scaling policy as JSON',
  run: async (invocation) => {
    const { box, inNamespace, parameters, terminal } = invocation;
    const { value } = await orThrow(box.scaling.policy(parameters[0] ?? '', inNamespace));
    if (value === undefined) throw new Stopped(`there is no scaling policy ${parameters[0]}`);
    terminal.out(`${inJson(value, 2)}\n`);
    return 0;
  },
});

export const operatorCommands: readonly Command[] = [
  getConfiguration,
  setConfiguration,
  metrics,
  storeCommand,
  members,
  policies,
  policy,
];
