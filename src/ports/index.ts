export type { ToldState, ToldStatus } from '../agent/allocation/client-status.js';
export type {
  CommandInput,
  CommandOutput,
  CommandPerformer,
  CommandRefused,
  NodeCommand,
  OutputStream,
  StreamPosition,
} from '../agent/link/node-command.js';
export type {
  AgentProcess,
  AllocationReport,
  FailureOutput,
  NodeDescription,
  NodeReport,
  NodeWork,
  NodeWorkList,
  RegisteredNode,
  ReportOutcome,
  TaskVariables,
  TaskVariablesQuery,
} from '../agent/link/node-work.js';
export type { IndexDefinition, Key, KeyPart, Table, TableHints } from '../shared/table.js';
export type { AgentLink, AgentLinkError, AgentRefused, LinkFailed, NodeTaken, UnknownNode } from './agent-link.js';
export type { Cipher, CipherError } from './cipher.js';
export type { Clock } from './clock.js';
export type { Download, DownloadError, DownloadRequest } from './download.js';
export type {
  ClientCertificate,
  DeliveryError,
  DeliveryRequest,
  DeliveryResponse,
  DeliveryTiming,
  HttpDelivery,
} from './http-delivery.js';
export type { IdKind, Ids, PrefixedKind, SuffixKind, UuidKind } from './ids.js';
export type { Logger } from './logger.js';
export type { MailError, Mailer, MailMessage } from './mailer.js';
export type { MetricLabels, Observer } from './observer.js';
export type {
  ListQuery,
  ReadView,
  Row,
  Storage,
  StorageError,
  StoreFigures,
  TableName,
  WriteView,
  Written,
} from './storage.js';
export type { SpanEnd, SpanStart, TracedSpan, Tracer } from './tracer.js';
export type { OutgoingMessage, Transform } from './transform.js';
