/**
 * Parts of requests and answers that all kinds share: paths, headers, words and field names. `a.b` is the field `b` of
 * the object `a`. A list contains possible names of an undocumented field, in the order in which they are tried.
 */
export const envelope = {
  prefix: '/api/v1',
  paths: {
    /** A request to this path costs nothing. It also serves to read the server's clock and to check the API key. */
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
  /** Undocumented final states of a job, which some answers contain. */
  otherStates: { succeeded: ['SUCCEEDED', 'SUCCESS'], canceled: ['CANCELED', 'CANCELLED'] } as {
    readonly [state in 'succeeded' | 'canceled']: readonly string[];
  },
  /** Values of an undocumented job field, by which kinds with the same status path are distinguished. */
  kindWords: { BASIC: 'image', INFLUENCER: 'influencer', THUMBNAIL: 'thumbnail' } as Readonly<Record<string, string>>,
  answer: {
    success: 'success',
    message: ['message', 'error', 'error.message'],
    /** Fields in which an answer may contain an object or a list instead of a message. */
    reasons: ['message', 'error', 'detail', 'details', 'errors'],
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
    holder: 'generation',
    /** Fields that may contain the job, for kinds without `holder`. The answer may also be the job itself. */
    otherHolders: ['generation', 'data', 'job', 'clipping', 'thumbnail', 'video', 'voiceover', 'post'],
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
    /**
     * Fields of a listed job that contain its link. A thumbnail's `image` is not used: it may be the request's image.
     */
    listedLink: ['outputAsset.url', 'outputUrl'],
  },
  /** Fields of each file of a job with several files. `order` counts from 0. */
  part: { id: 'id', order: 'order', link: ['outputAsset.url', 'url'] },
  upload: {
    uploadUrl: 'data.uploadUrl',
    blobName: 'data.blobName',
    publicUrl: 'data.publicUrl',
    holders: ['data', 'asset'],
    id: 'id',
    url: 'url',
  },
  voices: { lists: ['voices', 'data'] },
  accounts: { lists: ['data', 'accounts'], name: 'accountName', username: 'accountUsername' },
  catalog: {
    lists: ['data', 'models', 'catalog', 'items'],
    model: ['key', 'model', 'id', 'name'],
    kind: ['kind', 'type'],
    credits: ['credits', 'cost', 'price', 'creditCost'],
    amount: ['amount', 'credits', 'value', 'cost', 'price'],
    /** Unit of a price, for example a second. Defaults to a job. */
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
    deprecated: ['deprecated', 'isDeprecated', 'deprecatedAt'],
    state: ['status', 'state', 'lifecycle'],
  },
} as const;

export const jobStates: readonly string[] = Object.values(envelope.states);
