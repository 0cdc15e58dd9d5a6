import type { Command } from '../command-line/command.js';
import { receive } from '../receive-command.js';
import { policyCommands } from './access/policy-commands.js';
import { roleCommands } from './access/role-commands.js';
import { tokenCommands } from './access/token-commands.js';
import { allocationCommands } from './allocations/allocation-commands.js';
import { execCommands } from './allocations/exec-commands.js';
import { fileCommands } from './allocations/file-commands.js';
import { logCommands } from './allocations/log-commands.js';
import { sendRequest } from './api-command.js';
import { directoryCommands } from './directory-commands.js';
import { eventCommands } from './event-commands.js';
import { functionCommands } from './function-commands.js';
import { jobCommands } from './jobs/job-commands.js';
import { jobPartCommands } from './jobs/job-part-commands.js';
import { jobStartCommands } from './jobs/job-start-commands.js';
import { outlookCommands } from './jobs/outlook-commands.js';
import { plan } from './jobs/plan-command.js';
import { restartJob } from './jobs/restart-command.js';
import { namespaceCommands } from './namespace-commands.js';
import { nodeCommands, nodeMetaCommands } from './nodes/node-commands.js';
import { nodePoolCommands } from './nodes/node-pool-commands.js';
import { notificationCommands } from './notifications/notification-commands.js';
import { recoveryCommands } from './notifications/recovery-commands.js';
import { operatorCommands } from './operator-commands.js';
import { parse } from './parse-command.js';
import { deploymentCommands } from './scheduling/deployment-commands.js';
import { evaluationCommands } from './scheduling/evaluation-commands.js';
import { search } from './search-command.js';
import { agent, serverCommands } from './server-commands.js';
import { serviceCommands } from './service-commands.js';
import { lockVariable } from './variables/lock-command.js';
import { variableCommands } from './variables/variable-commands.js';

/** All commands that call a server, in their order in the help. */
export const commands: readonly Command[] = [
  parse,
  plan,
  ...jobCommands,
  ...jobStartCommands,
  ...jobPartCommands,
  restartJob,
  ...outlookCommands,
  ...functionCommands,
  ...deploymentCommands,
  ...allocationCommands,
  ...execCommands,
  ...logCommands,
  ...fileCommands,
  ...evaluationCommands,
  ...nodeCommands,
  ...nodeMetaCommands,
  ...nodePoolCommands,
  ...variableCommands,
  lockVariable,
  ...serviceCommands,
  ...namespaceCommands,
  ...tokenCommands,
  ...policyCommands,
  ...roleCommands,
  ...directoryCommands,
  ...notificationCommands,
  ...eventCommands,
  ...recoveryCommands,
  search,
  ...serverCommands,
  ...operatorCommands,
  sendRequest,
  receive,
  agent,
];
