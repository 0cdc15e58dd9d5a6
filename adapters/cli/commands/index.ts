import type { Command } from '../command-line/command.js';
import { receive } from '../receive-command.js';
import { agent } from './agent-command.js';
import { allocationCommands } from './allocation-commands.js';
import { sendRequest } from './api-command.js';
import { deploymentCommands } from './deployment-commands.js';
import { directoryCommands } from './directory-commands.js';
import { evaluationCommands } from './evaluation-commands.js';
import { eventCommands } from './event-commands.js';
import { execCommands } from './exec-commands.js';
import { fileCommands } from './file-commands.js';
import { jobCommands } from './job-commands.js';
import { jobPartCommands } from './job-part-commands.js';
import { lockVariable } from './lock-command.js';
import { logCommands } from './log-commands.js';
import { namespaceCommands } from './namespace-commands.js';
import { nodeCommands } from './node-commands.js';
import { nodeMetaCommands } from './node-meta-commands.js';
import { nodePoolCommands } from './node-pool-commands.js';
import { notificationCommands } from './notification-commands.js';
import { operatorCommands } from './operator-commands.js';
import { parse } from './parse-command.js';
import { plan } from './plan-command.js';
import { policyCommands } from './policy-commands.js';
import { recoveryCommands } from './recovery-commands.js';
import { restartJob } from './restart-command.js';
import { roleCommands } from './role-commands.js';
import { search } from './search-command.js';
import { serverCommands } from './server-commands.js';
import { serviceCommands } from './service-commands.js';
import { tokenCommands } from './token-commands.js';
import { variableCommands } from './variable-commands.js';

/** Every command but those that concern a server of one's own, in the order of the help. */
export const commands: readonly Command[] = [
  parse,
  plan,
  ...jobCommands,
  ...jobPartCommands,
  restartJob,
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
