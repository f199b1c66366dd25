from bench.recall.run import main

main()
