"""Which module holds a type, in lower case. Made by `make generate`."""

from typing import Final

_TYPES: Final = {
    "activation": """
        clamp elu exp gelu hardsigmoid hsigmoid hswish identity logsoftmax mish prelu relu selu sigmoid softmax softplus softsign swish
    """,
    "arithmetic": """
        abs acos acosh add asin asinh atan atanh ceiling cos cosh cumsum divide erf erfinv floor floormod log maximum minimum mod multiply
        negative power round segmentmax sign sin sinh sqrt squareddifference subtract tan tanh
    """,
    "bitwise": "bitwiseand bitwiseleftshift bitwisenot bitwiseor bitwiserightshift bitwisexor",
    "comparison": "equal greater greaterequal isfinite isinf isnan less lessequal notequal",
    "condition": "bucketize nonzero select",
    "convolution": """
        binaryconvolution convolution convolutionbackpropdata deformableconvolution groupconvolution groupconvolutionbackpropdata
    """,
    "detection.heads": "detectionoutput priorbox priorboxclustered regionyolo reorgyolo",
    "detection.regions": """
        deformablepsroipooling experimentaldetectrondetectionoutput experimentaldetectrongenerateproposalssingleimage
        experimentaldetectronpriorgridgenerator experimentaldetectronroifeatureextractor generateproposals proposal psroipooling roialign
        roialignrotated roipooling
    """,
    "generation": "eye multinomial randomuniform range",
    "image": "bgrtonv12 gridsample i420tobgr i420torgb interpolate nv12tobgr nv12torgb rgbtonv12",
    "infrastructure": "assign constant if loop parameter readvalue result tensoriterator",
    "logical": "logicaland logicalnot logicalor logicalxor xor",
    "matrix": "einsum groupedmatmul inverse matmul",
    "movement.blocks": "batchtospace batchtospacend depthtospace spacetobatch spacetobatchnd spacetodepth",
    "movement.broadcast": "broadcast pad tile",
    "movement.concat_split": "concat split variadicsplit",
    "movement.indexing": "gather gatherelements gathernd gathertree scatterelementsupdate scatterndupdate scatterupdate unique",
    "movement.patches": "col2im extractimagepatches",
    "movement.reorder": "reverse reversesequence roll shufflechannels transpose",
    "movement.slice": "slice slicescatter stridedslice",
    "normalization": "batchnorminference grn groupnormalization lrn mvn normalizel2",
    "pooling": "adaptiveavgpool adaptivemaxpool avgpool maxpool",
    "quantization": "fakeconvert fakequantize",
    "reduction": "reducel1 reducel2 reducelogicaland reducelogicalor reducemax reducemean reducemin reduceprod reducesum",
    "sequence.attention": "ctcgreedydecoder ctcgreedydecoderseqlen ctcloss onehot scaleddotproductattention",
    "sequence.recurrent": "grucell grusequence lstmcell lstmsequence rnncell rnnsequence",
    "shape": "reshape shapeof squeeze unsqueeze",
    "signals": "dft idft irdft istft rdft stft",
    "sort": "experimentaldetectrontopkrois matrixnms multiclassnms nmsrotated nonmaxsuppression searchsorted topk",
    "sparse": """
        embeddingbagoffsets embeddingbagoffsetssum embeddingbagpacked embeddingbagpackedsum embeddingsegmentssum sparsefillemptyrows
    """,
    "tokenizers": """
        bpetokenizer bytefallback bytestochars casefold charsmapnormalization charstobytes combinesegments contribstringjoin
        contribstringsplit equalstr fuzeragged normalizeunicode numerictostring raggedtensorpack raggedtodense raggedtoragged
        raggedtosparse regexnormalization regexsplit sentencepiecedetokenizer sentencepiecestreamdetokenizer sentencepiecetokenizer
        specialtokenssplit stringtohashbucket trietokenizer truncate unigramtokenizer utf8validate vocabdecoder vocabencoder
        wordpiecetokenizer
    """,
    "type": "convert convertlike convertpromotetypes stringtensorpack stringtensorunpack",
}
MODULES: Final = {type: module for module, types in _TYPES.items() for type in types.split()}
