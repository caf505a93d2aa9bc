/**
 * The parts of the service's answers that all kinds share, as data: paths, headers, words and field names. If the
 * documentation states a fact without its field name, possible names are listed in the order in which they are tried.
 * `a.b` is the field `b` of the object `a`.
 */
export const envelope = {
  /** The last part of every base URL. */
  prefix: '/api/v1',
  /** Paths relative to the base URL, except `documentAtRoot`, which is relative to the root of the host. */
  paths: {
    /** Also used to read the server's clock and to check the API key, because it is free. */
    accounts: '/accounts',
    voices: '/voiceovers/voices',
    catalog: '/catalog',
    uploads: '/uploads',
    signedUrl: '/uploads/signed-url',
    completeUpload: '/uploads/complete',
    document: '/openapi.json',
    documentAtRoot: '/api-docs/openapi.json',
  },
  headers: { idempotencyKey: 'idempotency-key', retryAfter: 'retry-after', date: 'date' },
  states: { queued: 'QUEUED', processing: 'PROCESSING', completed: 'COMPLETED', failed: 'FAILED' },
  /** Values that distinguish the kinds with the same status path. Their field is undocumented. */
  kindWords: { BASIC: 'image', INFLUENCER: 'influencer', THUMBNAIL: 'thumbnail' } as Readonly<Record<string, string>>,
  /** Fields of every answer. `success` is false when there is an error. */
  answer: {
    success: 'success',
    message: ['message', 'error', 'error.message'],
    code: 'code',
    details: 'details',
    data: 'data',
  },
  page: {
    hasNext: 'pagination.hasNextPage',
    pages: 'pagination.totalPages',
    records: 'pagination.totalCount',
    limit: 'pagination.limit',
  },
  created: {
    /** Field that contains the job, as documented for images and music. */
    holder: 'generation',
    /** Fields that may contain the job for other kinds. The answer may also be the job itself. */
    otherHolders: ['generation', 'data', 'job', 'clipping', 'thumbnail', 'video', 'voiceover', 'post'],
    /** A record with this field refers to its job, and is not the job itself. */
    jobId: 'jobId',
    id: 'id',
    model: 'model',
    credits: 'creditsDeducted',
    balance: 'creditsRemaining',
  },
  job: {
    id: 'id',
    status: 'status',
    error: 'error',
    createdAt: 'createdAt',
    model: 'model',
    credits: ['creditsUsed', 'creditsDeducted', 'credits'],
    prompt: ['prompt', 'text', 'title', 'videoUrl'],
    link: ['outputUrl', 'outputAsset.url'],
    thumbnail: ['thumbnailUrl', 'thumbnailAsset.url'],
    /** Links of a job in a list. Not `image` of a thumbnail, which may be the image of the request. */
    listedLink: ['outputAsset.url', 'outputUrl'],
  },
  /** Fields of each file, if a job has several. `order` counts from 0. */
  part: { id: 'id', order: 'order', link: ['outputAsset.url', 'url'] },
  upload: {
    uploadUrl: 'data.uploadUrl',
    blobName: 'data.blobName',
    publicUrl: 'data.publicUrl',
    /** Fields that may contain the asset. The answer may also be the asset itself. */
    holders: ['data', 'asset'],
    id: 'id',
    url: 'url',
  },
  voices: { lists: ['voices', 'data'] },
  accounts: { lists: ['data', 'accounts'], name: 'accountName', username: 'accountUsername' },
  /** Field names of the catalog of models, which is entirely undocumented. */
  catalog: {
    lists: ['data', 'models', 'catalog', 'items'],
    model: ['key', 'model', 'id', 'name'],
    kind: ['kind', 'type'],
    credits: ['credits', 'cost', 'price', 'creditCost'],
    amount: ['amount', 'credits', 'value', 'cost', 'price'],
    /** Unit that the credits are charged for. Defaults to a job. */
    per: [
      'per',
      'creditsPer',
      'credits_per',
      'creditPer',
      'costPer',
      'pricePer',
      'unit',
      'creditsUnit',
      'creditUnit',
      'priceUnit',
      'pricingUnit',
      'billingUnit',
    ],
    creditsBy: ['creditsBy'],
    ceiling: ['maxCredits'],
    allowed: ['allowed'],
    description: ['description', 'label'],
    /** True, or the time from which the model is deprecated. */
    deprecated: ['deprecated', 'isDeprecated', 'deprecatedAt'],
    state: ['status', 'state', 'lifecycle'],
  },
} as const;

/** Undocumented words for the final states of a job, in capitals. */
export const otherStates: { readonly succeeded: readonly string[]; readonly canceled: readonly string[] } = {
  succeeded: ['SUCCEEDED', 'SUCCESS'],
  canceled: ['CANCELED', 'CANCELLED'],
};

export const jobStates: readonly string[] = Object.values(envelope.states);
